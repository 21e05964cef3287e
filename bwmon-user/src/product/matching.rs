//! Whether a product is meant for a machine, how closely, and if not, why not.

use super::at::Sourced;
use super::glob::Glob;
use super::kernel::KernelRange;
use super::machine::MachineFacts;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

/// A key of `[match]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchKey {
    /// The device tree's root `compatible`.
    DtCompatible,
    /// The device tree's root `model`.
    DtModel,
    /// `/sys/devices/soc0/soc_id`.
    SocId,
    /// `/sys/devices/soc0/family`.
    SocFamily,
    /// `/sys/class/dmi/id/product_name`.
    DmiProduct,
    /// `/sys/class/dmi/id/sys_vendor`.
    DmiVendor,
    /// The kernel's release.
    Kernel,
}

impl MatchKey {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Self; 7] = [
        Self::DtCompatible,
        Self::DtModel,
        Self::SocId,
        Self::SocFamily,
        Self::DmiProduct,
        Self::DmiVendor,
        Self::Kernel,
    ];

    /// As in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::DtCompatible => "dt_compatible",
            Self::DtModel => "dt_model",
            Self::SocId => "soc_id",
            Self::SocFamily => "soc_family",
            Self::DmiProduct => "dmi_product",
            Self::DmiVendor => "dmi_vendor",
            Self::Kernel => "kernel",
        }
    }
}

/// What a key asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// One of these patterns fits.
    AnyOf(Vec<Glob>),
    /// The kernel is in this range.
    Kernel(KernelRange),
}

/// `[match]`: every key has to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// The keys.
    pub keys: BTreeMap<MatchKey, Sourced<Test>>,
    /// Breaks ties on purpose; higher wins.
    pub priority: Option<Sourced<i64>>,
}

/// How a product stands to a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It is meant for it.
    Fits(Rank),
    /// It is not.
    Fails {
        /// The first key that does not hold.
        key: MatchKey,
        /// Why, in words.
        why: String,
    },
    /// It is only a base for others.
    Abstract,
}

/// How closely a product fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Place in the machine's `compatible` list, from 0, and what stands there; `None` if the
    /// product does not ask for it.
    pub compatible: Option<(usize, String)>,
    /// The keys that held.
    pub keys: Vec<MatchKey>,
    /// The priority.
    pub priority: i64,
}

impl Rank {
    /// Smaller fits more closely: the place in the compatible list, then the number of keys, then
    /// the priority.
    pub fn order(&self) -> (usize, Reverse<usize>, Reverse<i64>) {
        let place = self.compatible.as_ref().map_or(usize::MAX, |(place, _)| *place);
        (place, Reverse(self.keys.len()), Reverse(self.priority))
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        if let Some((place, name)) = &self.compatible {
            write!(f, "dt_compatible {name} (place {} of the machine's list)", place + 1)?;
            comma = ", ";
        }
        for key in self.keys.iter().filter(|key| **key != MatchKey::DtCompatible) {
            write!(f, "{comma}{}", key.name())?;
            comma = ", ";
        }
        if self.priority != 0 {
            write!(f, "{comma}priority {}", self.priority)?;
        }
        Ok(())
    }
}

impl Match {
    /// How the product stands to the machine of `facts`.
    pub fn fit(&self, facts: &MachineFacts) -> Fit {
        let mut compatible = None;
        for (key, test) in &self.keys {
            let held = match &test.value {
                Test::AnyOf(globs) if *key == MatchKey::DtCompatible => {
                    compatible = place(globs, &facts.dt_compatible);
                    compatible.is_some()
                }
                Test::AnyOf(globs) => {
                    facts.text(key.name()).is_some_and(|text| globs.iter().any(|g| g.fits(text)))
                }
                Test::Kernel(range) => {
                    facts.kernel.as_deref().and_then(|release| range.holds(release)) == Some(true)
                }
            };
            if !held {
                return Fit::Fails { key: *key, why: why(*key, &test.value, facts) };
            }
        }
        let priority = self.priority.as_ref().map_or(0, |priority| priority.value);
        Fit::Fits(Rank { compatible, keys: self.keys.keys().copied().collect(), priority })
    }
}

/// The first of the machine's names that one of the patterns fits.
fn place(globs: &[Glob], names: &[String]) -> Option<(usize, String)> {
    let fits = |name: &String| globs.iter().any(|glob| glob.fits(name));
    names.iter().position(fits).and_then(|at| Some((at, names.get(at)?.clone())))
}

fn why(key: MatchKey, test: &Test, facts: &MachineFacts) -> String {
    match (test, key) {
        (Test::AnyOf(_), MatchKey::DtCompatible) if facts.dt_compatible.is_empty() => {
            "this machine has no device tree".into()
        }
        (Test::AnyOf(globs), MatchKey::DtCompatible) => {
            format!("none of {} in [{}]", list(globs), facts.dt_compatible.join(", "))
        }
        (Test::AnyOf(globs), _) => match facts.text(key.name()) {
            Some(found) => format!("{found} is none of {}", list(globs)),
            None => "this machine does not say".into(),
        },
        (Test::Kernel(range), _) => match &facts.kernel {
            Some(found) => format!("{found} is not {range}"),
            None => "the kernel's release is not known".into(),
        },
    }
}

fn list(globs: &[Glob]) -> String {
    globs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::At;

    fn facts() -> MachineFacts {
        MachineFacts {
            dt_compatible: ["acme,tab10-rev3", "acme,tab10", "qcom,sdm845"].map(Into::into).into(),
            soc_id: Some("321".into()),
            kernel: Some("6.12.9".into()),
            ..MachineFacts::default()
        }
    }

    fn matching(keys: &[(MatchKey, &[&str])], priority: i64) -> Match {
        let at = At::Given(String::new());
        let keys = keys.iter().map(|(key, texts)| {
            let value = if *key == MatchKey::Kernel {
                Test::Kernel(KernelRange::parse(texts[0]).unwrap())
            } else {
                Test::AnyOf(texts.iter().map(|text| Glob::new(text).unwrap()).collect())
            };
            (*key, Sourced { value, at: at.clone() })
        });
        Match { keys: keys.collect(), priority: Some(Sourced { value: priority, at: at.clone() }) }
    }

    fn rank(matching: &Match) -> Rank {
        match matching.fit(&facts()) {
            Fit::Fits(rank) => rank,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_key_has_to_hold_and_one_of_a_list_is_enough() {
        use MatchKey::{DtCompatible, Kernel, SocId};
        let both = matching(&[(DtCompatible, &["x,y", "acme,*"]), (SocId, &["519", "321"])], 0);
        assert_eq!(rank(&both).compatible, Some((0, "acme,tab10-rev3".into())));
        let old = matching(&[(DtCompatible, &["acme,tab10"]), (Kernel, &["<6.6"])], 0);
        let Fit::Fails { key, why } = old.fit(&facts()) else { panic!("an old kernel only") };
        assert_eq!((key, why.as_str()), (Kernel, "6.12.9 is not <6.6"));
    }

    #[test]
    fn the_verdict_names_the_key_and_both_sides() {
        let other = matching(&[(MatchKey::DtCompatible, &["acme,tab11", "acme,tab12"])], 0);
        let Fit::Fails { key, why } = other.fit(&facts()) else { panic!("another tablet") };
        assert_eq!(key.name(), "dt_compatible");
        assert_eq!(
            why,
            "none of acme,tab11, acme,tab12 in [acme,tab10-rev3, acme,tab10, qcom,sdm845]"
        );
        let dmi = matching(&[(MatchKey::DmiProduct, &["*"])], 0);
        let Fit::Fails { why, .. } = dmi.fit(&facts()) else { panic!("no DMI here") };
        assert_eq!(why, "this machine does not say");
    }

    #[test]
    fn place_in_the_list_counts_before_keys_and_keys_before_priority() {
        use MatchKey::{DtCompatible, Kernel, SocId};
        // From the closest to the farthest.
        let ranks = [
            matching(&[(DtCompatible, &["acme,tab10-rev?"])], -5),
            matching(&[(DtCompatible, &["acme,tab10"]), (SocId, &["321"])], 0),
            matching(&[(DtCompatible, &["acme,tab10"])], 2),
            matching(&[(DtCompatible, &["acme,tab10"])], 1),
            matching(&[(DtCompatible, &["qcom,sdm845"]), (SocId, &["*"]), (Kernel, &[">5"])], 99),
            matching(&[(SocId, &["321"]), (Kernel, &[">5"])], 100),
        ]
        .map(|matching| rank(&matching));
        assert!(ranks.is_sorted_by(|a, b| a.order() < b.order()));
        let said = "dt_compatible acme,tab10 (place 2 of the machine's list), priority 2";
        assert_eq!(ranks[2].to_string(), said);
    }
}
