//! The shipped policies, for machines on which no policy file is installed.

/// A policy that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Its name wherever a policy file may stand.
    pub name: &'static str,
    /// Its script.
    pub text: &'static str,
    /// What must hold for it, if that is written down.
    pub spec: Option<&'static str>,
}

/// All of them, in the order of `policy list`.
pub const SHIPPED: &[Shipped] = &[
    Shipped {
        name: "bwmon",
        text: include_str!("../../../policies/bwmon.rhai"),
        spec: Some(include_str!("../../../policies/bwmon.spec.toml")),
    },
    Shipped {
        name: "adaptive",
        text: include_str!("../../../policies/adaptive.rhai"),
        spec: Some(include_str!("../../../policies/adaptive.spec.toml")),
    },
];

/// The shipped policy called `name`.
pub fn shipped(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|shipped| shipped.name == name)
}

/// Every name that may stand in the place of a policy file.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|shipped| shipped.name).chain([super::NATIVE])
}
