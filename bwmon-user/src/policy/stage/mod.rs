//! Small machines with a memory: what policies are made of, as named slots in scripts and as the
//! stages of a native chain. Bounded, allocation-free once warm, and driven by the samples' time,
//! so that a replay walks the same values.

mod chain;
mod hold;
mod smooth;
mod switch;
mod window;

pub use chain::{Chain, ChainError, PREFIX, STAGES};
pub use hold::{HoldDown, PeakHold, RunMax};
pub use smooth::{Ewma, Slew, headroom, lerp};
pub use switch::{Debounce, Hysteresis};
pub use window::{MOST_VALUES, Window};

/// Values that machines take and give: within plus or minus this, so that nothing overflows.
pub const LARGEST: i64 = 1 << 52;

/// `x` within what the machines can hold.
pub(crate) fn tame(x: i64) -> i64 {
    x.clamp(-LARGEST, LARGEST)
}
