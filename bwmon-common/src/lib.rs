//! ABI
