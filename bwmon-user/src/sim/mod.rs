//! sim
pub mod block;
