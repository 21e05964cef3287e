//! Tests through the built binary and across crates.
