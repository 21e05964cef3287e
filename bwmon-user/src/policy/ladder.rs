//! What happens to a policy that faults again and again: it is set aside for a while, longer each
//! time, and the native rule governs meanwhile. Time is the samples', so replay walks it too.

use crate::units::Nanos;

/// Faults within [`WINDOW`] that set a policy aside.
const FAULTS: u32 = 3;
/// The span in which faults are counted together.
const WINDOW: Nanos = Nanos(Nanos::PER_S);
/// The first time aside.
const FIRST: Nanos = Nanos(Nanos::PER_S);
/// The longest time aside.
const LONGEST: Nanos = Nanos(60 * Nanos::PER_S);

/// The state of one domain's policy.
#[derive(Clone, Debug)]
pub struct Ladder {
    since: Nanos,
    faults: u32,
    aside_until: Nanos,
    next: Nanos,
}

impl Default for Ladder {
    fn default() -> Self {
        Self { since: Nanos(0), faults: 0, aside_until: Nanos(0), next: FIRST }
    }
}

impl Ladder {
    /// Whether the policy may be asked at `now`.
    pub fn may_ask(&self, now: Nanos) -> bool {
        now >= self.aside_until
    }

    /// Notes a fault at `now`; answers whether it set the policy aside.
    pub fn fault(&mut self, now: Nanos) -> bool {
        if self.faults == 0 || now.since(self.since) > WINDOW {
            self.since = now;
            self.faults = 0;
        }
        self.faults += 1;
        if self.faults < FAULTS {
            return false;
        }
        self.faults = 0;
        self.aside_until = now.plus(self.next);
        self.next = Nanos((self.next.0 * 2).min(LONGEST.0));
        true
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
        assert!(!ladder.fault(ms(0)));
        assert!(!ladder.fault(ms(4)));
        assert!(ladder.fault(ms(8)));
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
            assert!(!ladder.fault(ms(n * 1_500)));
        }
    }

    #[test]
    fn the_time_aside_ends_at_a_minute() {
        let mut ladder = Ladder::default();
        let mut now = 0;
        for _ in 0..20 {
            while !ladder.fault(ms(now)) {}
            now = ladder.aside_until.as_ms();
        }
        ladder.fault(ms(now));
        assert_eq!(ladder.next, LONGEST);
    }
}
