//! Nothing here: the tests are in `tests.rs` beside this folder.
