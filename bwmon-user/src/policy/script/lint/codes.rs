//! The lints by code: how bad each is, and a sentence. The help of `policy check` is made from it.

use std::fmt;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The policy faults where it stands, or cannot mean what it says.
    Error,
    /// It may be meant, but seldom is.
    Warning,
}

impl Severity {
    /// As in JSON and in annotations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One row of the table of lints.
#[derive(Clone, Copy, Debug)]
pub struct Lint {
    /// Which.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// What it finds, in one sentence.
    pub what: &'static str,
}

macro_rules! lints {
    ($($variant:ident $name:literal $severity:ident $what:literal;)*) => {
        /// A lint.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $what] $variant,)*
        }

        /// All lints, in the order of the help.
        pub const LINTS: &[Lint] = &[
            $(Lint { code: Code::$variant, severity: Severity::$severity, what: $what },)*
        ];

        impl Code {
            /// Its stable name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// How bad it is.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$variant => Severity::$severity,)*
                }
            }
        }
    };
}

lints! {
    Refused "refused" Error "the policy cannot be loaded: syntax, a missing decide, a broken head";
    Fault "fault" Error "a call of decide or init faulted, dry or in the closed loop";
    UnknownFunction "unknown-function" Error "a call of a function or method that does not exist";
    WrongArgumentCount "wrong-argument-count" Error "a function is called with too many or too few arguments";
    WrongArgumentType "wrong-argument-type" Error "a function takes no argument of this type";
    UnknownProperty "unknown-property" Error "a property that the value does not have";
    ReadOnly "read-only" Error "an assignment to a property of obs, info or ev";
    UnknownReading "unknown-reading" Error "obs.has (or ev.has) asks for something that does not exist";
    UnknownTunable "unknown-tunable" Error "cfg::name without a line // @param name";
    UnknownConstant "unknown-constant" Error "global::NAME without a const NAME";
    UnknownStateKey "unknown-state-key" Error "a key of this that init does not return";
    NoState "no-state" Error "this where no state is: no init, or a function called as f(), not this.f()";
    StateType "state-type" Error "a key of the state gets a value of another type than in init";
    NoProposal "no-proposal" Error "a way out of decide without a proposal";
    MixedComparison "mixed-comparison" Error "a comparison of unlike types, which is always false";
    NotACondition "not-a-condition" Error "a condition that is neither true nor false";
    NoSuchOperation "no-such-operation" Error "arithmetic on values that have none";
    SlotTwoHelpers "slot-two-helpers" Error "one slot used by two different helpers";
    TooManySlots "too-many-slots" Error "more named slots than a domain has";
    LostProposal "lost-proposal" Warning "a proposal that is made and thrown away";
    FloatEquality "float-equality" Warning "numbers with a point compared by == or !=";
    UnguardedReading "unguarded-reading" Warning "a reading that may be unknown, read where nothing asked for it";
    UnitInName "unit-in-name" Warning "a name with kbps or mbps, which reads as bits";
    UnreachableCode "unreachable-code" Warning "a statement that never runs";
    UnusedTunable "unused-tunable" Warning "a tunable that the script never reads";
    UnusedFunction "unused-function" Warning "a function that nothing calls";
    UnusedStateKey "unused-state-key" Warning "a key of the state that is never read";
    NumberTooLarge "number-too-large" Warning "a whole number beyond 2^53, or one that silently became a float";
    SlotNotLiteral "slot-not-literal" Warning "the name of a slot is no plain text";
    NeverComesDown "never-comes-down" Warning "the highest level stays after the demand fell to nothing";
    Flapping "flapping" Warning "on a constant demand the level keeps changing";
    LevelNeverChosen "level-never-chosen" Warning "levels that no demand reaches, though the native rule chooses them";
    BelowDemand "below-demand" Warning "on a constant demand the level stays below it";
}

impl Code {
    /// The lint called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        LINTS.iter().map(|lint| lint.code).find(|code| code.name() == name)
    }

    /// Whether an operator may allow it: a policy that does not run is no matter of taste.
    pub fn can_be_allowed(self) -> bool {
        !matches!(self, Self::Refused | Self::Fault)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_code_is_kebab_case_stands_once_and_is_found_by_its_name() {
        let mut names = BTreeSet::new();
        for lint in LINTS {
            let name = lint.code.name();
            assert!(names.insert(name), "{name} stands twice");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
            assert_eq!(Code::from_name(name), Some(lint.code));
            assert_eq!(lint.code.severity(), lint.severity);
            // The help has lines of 100 columns.
            assert!(!lint.what.ends_with('.') && lint.what.len() <= 76, "{name}");
        }
        assert_eq!(Code::from_name("nothing"), None);
    }
}
