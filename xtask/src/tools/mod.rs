//! What the verbs fetch and run. Everything fetched lands under `target/tools`.

pub(crate) mod apt;
pub(crate) mod bpf_linker;
pub(crate) mod needs;
pub(crate) mod process;
pub(crate) mod remap;
pub(crate) mod rust_src;
pub(crate) mod suites;
