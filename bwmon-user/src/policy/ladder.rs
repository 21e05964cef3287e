//! What happens to a policy that faults again and again: it is set aside for a while, longer each
//! time, and the native rule governs meanwhile; in the end it is demoted until it is replaced. Time
//! is the samples', so replay walks it too.

use crate::units::Nanos;

/// Faults within [`WINDOW`] that set a policy aside.
const FAULTS: u32 = 3;
/// The span in which faults are counted together.
const WINDOW: Nanos = Nanos(Nanos::PER_S);
/// The first time aside.
const FIRST: Nanos = Nanos(Nanos::PER_S);
/// The longest time aside.
const LONGEST: Nanos = Nanos(60 * Nanos::PER_S);

/// Times aside after which a policy is demoted.
const ASIDES: u32 = 5;
/// Time without a fault after which earlier ones are forgiven.
const FORGIVEN: Nanos = Nanos(600 * Nanos::PER_S);

/// What a fault came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fall {
    /// The policy is asked again on the next tick.
    Stays,
    /// It is set aside for a while.
    Aside,
    /// It is not asked any more until it is replaced.
    Demoted,
}

/// The state of one domain's policy.
#[derive(Clone, Debug)]
pub struct Ladder {
    since: Nanos,
    faults: u32,
    aside_until: Nanos,
    next: Nanos,
    asides: u32,
    demoted: bool,
    last: Nanos,
}

impl Default for Ladder {
    fn default() -> Self {
        Self {
            since: Nanos(0),
            faults: 0,
            aside_until: Nanos(0),
            next: FIRST,
            asides: 0,
            demoted: false,
            last: Nanos(0),
        }
    }
}

impl Ladder {
    /// Whether the policy may be asked at `now`.
    pub fn may_ask(&self, now: Nanos) -> bool {
        !self.demoted && now >= self.aside_until
    }

    /// Whether the policy is not asked any more.
    pub fn is_demoted(&self) -> bool {
        self.demoted
    }

    /// Notes a fault at `now`.
    pub fn fault(&mut self, now: Nanos) -> Fall {
        if now.since(self.last) > FORGIVEN {
            (self.asides, self.next) = (0, FIRST);
        }
        self.last = now;
        if self.faults == 0 || now.since(self.since) > WINDOW {
            self.since = now;
            self.faults = 0;
        }
        self.faults += 1;
        if self.faults < FAULTS {
            return Fall::Stays;
        }
        self.faults = 0;
        self.asides += 1;
        if self.asides == ASIDES {
            self.demoted = true;
            return Fall::Demoted;
        }
        self.aside_until = now.plus(self.next);
        self.next = Nanos((self.next.0 * 2).min(LONGEST.0));
        Fall::Aside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Nanos {
        Nanos(n * Nanos::PER_MS)
    }

    #[test]
    fn three_faults_in_a_second_set_it_aside_for_one_second_then_two() {
        let mut ladder = Ladder::default();
        assert_eq!(ladder.fault(ms(0)), Fall::Stays);
        assert_eq!(ladder.fault(ms(4)), Fall::Stays);
        assert_eq!(ladder.fault(ms(8)), Fall::Aside);
        assert!(!ladder.may_ask(ms(1007)));
        assert!(ladder.may_ask(ms(1008)));
        for n in 0..3 {
            ladder.fault(ms(1008 + n));
        }
        assert!(!ladder.may_ask(ms(3009)));
        assert!(ladder.may_ask(ms(3010)));
    }

    #[test]
    fn faults_far_apart_do_not_add_up() {
        let mut ladder = Ladder::default();
        for n in 0..20 {
            assert_eq!(ladder.fault(ms(n * 1_500)), Fall::Stays);
        }
    }

    /// Faults from `now` on until it is set aside or demoted; answers when it may be asked again.
    fn fall(ladder: &mut Ladder, now: u64) -> (Fall, u64) {
        loop {
            let fall = ladder.fault(ms(now));
            if fall != Fall::Stays {
                return (fall, ladder.aside_until.as_ms());
            }
        }
    }

    #[test]
    fn the_fifth_time_it_is_demoted_for_good() {
        let mut ladder = Ladder::default();
        let mut now = 0;
        for _ in 0..4 {
            let (fall, until) = fall(&mut ladder, now);
            assert_eq!(fall, Fall::Aside);
            now = until;
        }
        // 1 s, 2 s, 4 s and 8 s aside.
        assert_eq!(now, 15_000);
        assert_eq!(fall(&mut ladder, now).0, Fall::Demoted);
        assert!(ladder.is_demoted() && !ladder.may_ask(ms(1_000_000_000)));
    }

    #[test]
    fn ten_minutes_without_a_fault_are_forgiven() {
        let mut ladder = Ladder::default();
        let mut now = 0;
        for _ in 0..12 {
            let (fall, until) = fall(&mut ladder, now);
            assert_eq!((fall, until), (Fall::Aside, now + 1_000));
            now = until + 600_000;
        }
    }
}
