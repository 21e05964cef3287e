//! The shipped policies, for machines on which no policy file is installed.

/// A policy that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Its name wherever a policy file may stand.
    pub name: &'static str,
    /// Its script.
    pub text: &'static str,
}

/// All of them, in the order of `policy list`.
pub const SHIPPED: &[Shipped] = &[
    Shipped { name: "bwmon", text: include_str!("../../../policies/bwmon.rhai") },
    Shipped { name: "adaptive", text: include_str!("../../../policies/adaptive.rhai") },
    Shipped { name: "bw_hwmon", text: include_str!("../../../policies/bw_hwmon.rhai") },
    Shipped { name: "ondemand", text: include_str!("../../../policies/ondemand.rhai") },
    Shipped { name: "latency", text: include_str!("../../../policies/latency.rhai") },
    Shipped { name: "frames", text: include_str!("../../../policies/frames.rhai") },
    Shipped { name: "fixed", text: include_str!("../../../policies/fixed.rhai") },
    Shipped { name: "performance", text: include_str!("../../../policies/performance.rhai") },
    Shipped { name: "powersave", text: include_str!("../../../policies/powersave.rhai") },
];

/// The shipped policy called `name`.
pub fn shipped(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|shipped| shipped.name == name)
}

/// Every name that may stand in the place of a policy file.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|shipped| shipped.name).chain([super::NATIVE])
}
