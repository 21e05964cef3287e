//! What can go wrong with the probes.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why the probes are not there. Each says the object, the reason and, where there is one, the
/// next step; an agent can go on without probes.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// This program was built without the probes.
    #[error(
        "this build of bwmon has no probes in it: run `cargo xtask build-ebpf`, then build again"
    )]
    NoObject,

    /// The bytes are not the probes' object.
    #[error("the probes' object cannot be used: {why}")]
    BadObject {
        /// What does not fit.
        why: String,
    },

    /// The object was built with another version of the record layout.
    #[error(
        "the probes' object speaks ABI version {object}, this agent {agent}: build both from one \
         source (`cargo xtask build-ebpf`, then the agent)"
    )]
    AbiMismatch {
        /// The object's version.
        object: u32,
        /// This agent's version.
        agent: u32,
    },

    /// tracefs is not mounted and could not be mounted.
    #[error(
        "the kernel's trace file system is not there ({why}): mount it with `mount -t tracefs \
         tracefs /sys/kernel/tracing`; a kernel without CONFIG_FTRACE has none"
    )]
    NoTracefs {
        /// What was tried last and what the kernel said.
        why: String,
    },

    /// The kernel refuses for want of a capability.
    #[error("no permission to {what}: run as root, or grant {capability}")]
    Permission {
        /// What was refused.
        what: String,
        /// The capabilities that allow it.
        capability: &'static str,
    },

    /// Kernel lockdown in confidentiality mode forbids programs that read kernel memory.
    #[error(
        "the kernel is locked down (confidentiality mode) and takes no probes; integrity mode \
         would do"
    )]
    Lockdown,

    /// The verifier rejects a program.
    #[error(
        "the kernel's verifier rejected the probe `{program}` ({source}); it said last:\n{tail}"
    )]
    Verifier {
        /// The program.
        program: String,
        /// The last lines of the verifier's log.
        tail: String,
        /// The error number that came with it.
        source: io::Error,
    },

    /// Any other refusal of the kernel's.
    #[error("cannot {what}: {why}")]
    Kernel {
        /// What was tried.
        what: String,
        /// The chain of reasons.
        why: String,
    },

    /// A file of the kernel's could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
