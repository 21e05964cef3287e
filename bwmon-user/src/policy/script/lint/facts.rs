//! What a path of a script knows about readings: asked for or not, known, or known to be missing.

use std::collections::BTreeMap;

/// What must be there for readings to be known; a bit for each.
pub(super) const READING: u16 = 1;
const MEAN: u16 = 1 << 1;
const TREND: u16 = 1 << 2;
pub(super) const LEVEL: u16 = 1 << 3;
pub(super) const LOWER: u16 = 1 << 4;
const OTHERS: u16 = 1 << 5;
const KERNEL: u16 = 1 << 6;
const CPU: u16 = 1 << 7;
const CHANGE: u16 = 1 << 8;
const LOST: u16 = 1 << 9;

/// What the reading `name` needs; 0 for those that are always known.
pub(super) fn needs(name: &str) -> u16 {
    match name {
        "peak_kBps" | "windows" | "saturated" => READING,
        "mean_kBps" => MEAN,
        "trend_kBps" => TREND,
        "util_pct" => READING | LEVEL,
        "level" | "level_kBps" => LEVEL,
        "lower_kBps" => LOWER,
        "others_kBps" => OTHERS,
        "kernel_kBps" => KERNEL,
        "cpu_max_kHz" => CPU,
        "since_change_ms" => CHANGE,
        "lost_events" => LOST,
        _ => 0,
    }
}

/// A value of which facts are known: two names for it have the same subject.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    /// The function's parameter of that number.
    Parameter(usize),
    /// `obs.of("…")`, whatever it was asked of.
    Domain(String),
}

/// What is known about one subject: three sets of the bits above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    tested: u16,
    known: u16,
    absent: u16,
}

/// How a reading stands on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing asked for it.
    Unasked,
    /// Something asked for it; what it answered is not told apart.
    Asked,
    /// It is known.
    Known,
    /// It is known to be missing.
    Absent,
}

impl Known {
    fn standing(self, needs: u16) -> Standing {
        if needs & self.absent != 0 {
            Standing::Absent
        } else if needs & !self.known == 0 {
            Standing::Known
        } else if needs & !(self.known | self.tested) == 0 {
            Standing::Asked
        } else {
            Standing::Unasked
        }
    }

    fn test(&mut self, bits: u16) {
        self.tested |= bits;
    }

    fn know(&mut self, bits: u16) {
        let mut all = bits;
        if bits & (MEAN | TREND) != 0 {
            all |= READING;
        }
        if bits & (LOWER | CHANGE) != 0 {
            all |= LEVEL;
        }
        self.known |= all;
        self.tested |= all;
        self.absent &= !all;
    }

    fn miss(&mut self, bits: u16) {
        self.tested |= bits;
        if bits.count_ones() != 1 {
            // One of several is missing: which, is not told.
            return;
        }
        let mut all = bits;
        if bits == READING {
            all |= MEAN | TREND;
        }
        if bits == LEVEL {
            all |= LOWER | CHANGE;
        }
        self.tested |= all;
        self.absent |= all;
        self.known &= !all;
    }

    /// Where two paths meet. What one of them asked counts as asked: the other may never be taken
    /// when it is read.
    fn join(self, other: Self) -> Self {
        Self {
            tested: self.tested | other.tested,
            known: self.known & other.known,
            absent: self.absent & other.absent,
        }
    }
}

/// What is known about all subjects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts(BTreeMap<Subject, Known>);

impl Facts {
    pub(super) fn standing(&self, subject: &Subject, needs: u16) -> Standing {
        self.0.get(subject).copied().unwrap_or_default().standing(needs)
    }

    pub(super) fn of(&self, subject: &Subject) -> Known {
        self.0.get(subject).copied().unwrap_or_default()
    }

    pub(super) fn set(&mut self, subject: Subject, known: Known) {
        self.0.insert(subject, known);
    }

    pub(super) fn test(&mut self, subject: &Subject, bits: u16) {
        self.0.entry(subject.clone()).or_default().test(bits);
    }

    pub(super) fn know(&mut self, subject: &Subject, bits: u16) {
        self.0.entry(subject.clone()).or_default().know(bits);
    }

    pub(super) fn miss(&mut self, subject: &Subject, bits: u16) {
        self.0.entry(subject.clone()).or_default().miss(bits);
    }

    pub(super) fn join(&mut self, other: &Self) {
        for (subject, known) in &other.0 {
            let mine = self.0.entry(subject.clone()).or_default();
            *mine = mine.join(*known);
        }
        for (subject, known) in &mut self.0 {
            if !other.0.contains_key(subject) {
                *known = known.join(Known::default());
            }
        }
    }

    /// What is known about domains, as a function that is called sees it too.
    pub(super) fn domains(&self) -> Self {
        let domain = |subject: &&Subject| matches!(subject, Subject::Domain(_));
        let kept = self.0.keys().filter(domain).cloned();
        Self(kept.map(|subject| (subject.clone(), self.of(&subject))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::script::words::PROPERTIES;

    #[test]
    fn every_reading_that_may_be_unknown_needs_something() {
        for word in PROPERTIES {
            let always = word.known == "always";
            assert_eq!(needs(word.name) == 0, always, "{}: add it to `needs`", word.name);
        }
    }

    #[test]
    fn what_one_of_two_paths_asked_counts_as_asked_where_they_meet() {
        let obs = Subject::Parameter(0);
        let (mut a, b) = (Facts::default(), Facts::default());
        assert_eq!(a.standing(&obs, READING), Standing::Unasked);
        a.know(&obs, READING);
        assert_eq!(a.standing(&obs, READING), Standing::Known);
        let mut c = b.clone();
        c.join(&a);
        assert_eq!(c.standing(&obs, READING), Standing::Asked);
        a.join(&b);
        assert_eq!(a, c);
    }

    #[test]
    fn a_missing_reading_takes_its_mean_with_it_and_a_mean_brings_its_reading() {
        let obs = Subject::Parameter(0);
        let mut facts = Facts::default();
        facts.miss(&obs, READING);
        assert_eq!(facts.standing(&obs, MEAN), Standing::Absent);
        assert_eq!(facts.standing(&obs, LEVEL), Standing::Unasked);
        facts.know(&obs, MEAN);
        assert_eq!(facts.standing(&obs, READING), Standing::Known);
        facts.miss(&obs, READING | LEVEL);
        assert_eq!(facts.standing(&obs, READING), Standing::Known, "one of the two is missing");
    }
}
