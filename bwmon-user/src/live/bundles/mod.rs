//! Bundles on this machine: the keys that are trusted, the store of what is installed, signing.

mod back;
mod durable;
mod folder;
mod keys;
mod rolled;
mod signing;
mod state;
mod store;
#[cfg(test)]
mod store_tests;
mod terms;

pub use keys::{KEY_FOLDERS, Key, trusted_keys};
pub use signing::{NewKey, SigningKey, generate};
pub use state::{Id, Standing};
pub use store::{
    DEFAULT_STORE_DIR, Installed, MAX_BOOTS, Rolled, Row, Started, Store, StoreError, Terms,
};
