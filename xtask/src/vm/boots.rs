//! Which scenarios there are, what they need, and how the machine is booted for them.

/// One thing that is shown on the machine.
#[derive(Clone, Copy)]
pub(crate) struct Scenario {
    /// Its name, here and inside the guest.
    pub(crate) name: &'static str,
    /// Whether it needs the kernel's own driver, `icc-bwmon`.
    pub(crate) needs_driver: bool,
}

/// One boot: scenarios that need the same kernel command line.
pub(crate) struct Boot {
    /// Its name.
    pub(crate) name: &'static str,
    scenarios: &'static [Scenario],
    /// Words added to the kernel command line.
    pub(crate) cmdline: &'static str,
}

/// `relaxed` lets the player write registers that a driver holds; `strict` is how machines really
/// run.
pub(crate) const BOOTS: [Boot; 2] = [
    Boot {
        name: "relaxed",
        scenarios: &[
            beside("watching"),
            beside("agreeing"),
            anywhere("holding"),
            anywhere("waking"),
            anywhere("masking"),
        ],
        cmdline: "iomem=relaxed",
    },
    Boot {
        name: "strict",
        scenarios: &[
            anywhere("offered"),
            beside("governing"),
            beside("killed"),
            beside("yielding"),
            anywhere("voting"),
        ],
        cmdline: "",
    },
];

const fn beside(name: &'static str) -> Scenario {
    Scenario { name, needs_driver: true }
}

const fn anywhere(name: &'static str) -> Scenario {
    Scenario { name, needs_driver: false }
}

/// The names of all scenarios.
pub(crate) fn names() -> Vec<&'static str> {
    BOOTS.iter().flat_map(|boot| boot.scenarios).map(|scenario| scenario.name).collect()
}

impl Boot {
    /// Those of its scenarios that were asked for; all when none was named.
    pub(crate) fn wanted(&self, asked: &[String]) -> Vec<Scenario> {
        let all = self.scenarios.iter().copied();
        all.filter(|one| asked.is_empty() || asked.iter().any(|name| name == one.name)).collect()
    }
}
