//! Virtual time: sleeping is jumping.

use crate::ports::Clock;
use crate::units::Nanos;
use std::cell::Cell;
use std::rc::Rc;

/// A clock whose copies show the same time.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock(Rc<Cell<u64>>);

impl Clock for VirtualClock {
    fn now(&self) -> Nanos {
        Nanos(self.0.get())
    }

    fn sleep_until(&mut self, moment: Nanos) {
        self.0.set(self.0.get().max(moment.0));
    }
}
