//! Yes or no with a memory.

/// True above one bound, false below another, as before in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hysteresis {
    on: bool,
}

impl Hysteresis {
    /// Takes `x`; starts false.
    pub fn step(&mut self, x: i64, low: i64, high: i64) -> bool {
        if x > high {
            self.on = true;
        } else if x < low {
            self.on = false;
        }
        self.on
    }
}

/// An answer that changes only after so many calls on end that differ from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Debounce {
    on: bool,
    differing: i64,
}

impl Debounce {
    /// Takes `cond`; starts false.
    pub fn step(&mut self, cond: bool, n: i64) -> bool {
        if cond == self.on {
            self.differing = 0;
            return self.on;
        }
        self.differing += 1;
        if self.differing >= n {
            (self.on, self.differing) = (cond, 0);
        }
        self.on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_the_bounds_the_answer_stays() {
        let mut switch = Hysteresis::default();
        let answers: Vec<bool> =
            [5, 8, 9, 8, 4, 3, 4].into_iter().map(|x| switch.step(x, 4, 8)).collect();
        assert_eq!(answers, [false, false, true, true, true, false, false]);
    }

    #[test]
    fn one_call_that_agrees_starts_the_count_again() {
        let mut switch = Debounce::default();
        let calls = [true, true, false, true, true, true, false, false, true, false, false, false];
        let answers: Vec<bool> = calls.into_iter().map(|c| switch.step(c, 3)).collect();
        // On at the third true on end (index 5), off at the third false on end (index 11).
        let expected: Vec<bool> = (0..12).map(|n| (5..11).contains(&n)).collect();
        assert_eq!(answers, expected);
    }
}
