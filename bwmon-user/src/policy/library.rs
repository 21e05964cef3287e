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

/// `policies/<name>.rhai`, with `policies/<name>.spec.toml` where that is said.
macro_rules! shipped {
    ($name:literal) => {
        Shipped {
            name: $name,
            text: include_str!(concat!("../../../policies/", $name, ".rhai")),
            spec: None,
        }
    };
    ($name:literal with spec) => {
        Shipped {
            spec: Some(include_str!(concat!("../../../policies/", $name, ".spec.toml"))),
            ..shipped!($name)
        }
    };
}

/// All of them, in the order of `policy list`.
pub const SHIPPED: &[Shipped] = &[
    shipped!("bwmon" with spec),
    shipped!("adaptive" with spec),
    shipped!("bw_hwmon" with spec),
    shipped!("ondemand" with spec),
    shipped!("latency" with spec),
    shipped!("frames" with spec),
    shipped!("fixed" with spec),
    shipped!("performance" with spec),
    shipped!("powersave" with spec),
];

/// The shipped policy called `name`.
pub fn shipped(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|shipped| shipped.name == name)
}

/// Every name that may stand in the place of a policy file.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|shipped| shipped.name).chain([super::NATIVE])
}

#[cfg(test)]
#[path = "library_tests.rs"]
mod tests;
