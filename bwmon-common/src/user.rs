//! The agent's side: tells aya that these may be read from and written to kernel memory as bytes.
#![expect(
    unsafe_code,
    reason = "aya::Pod is an unsafe marker; these types are repr(C) integers without padding"
)]

use crate::{Counters, Offsets};

// SAFETY: an array of u32: every bit pattern is valid, there is no padding.
unsafe impl aya::Pod for Offsets {}

// SAFETY: arrays of u64: every bit pattern is valid, there is no padding.
unsafe impl aya::Pod for Counters {}
