//! Loading the probes: offsets from tracefs, programs into the kernel, one attached per event.

use super::error::ProbeError;
use super::format::offsets_row;
use super::object::Object;
use super::reader::{ProbeReader, Speaker};
use super::tracefs::{self, Described};
use aya::programs::{ProgramError, TracePoint};
use aya::{Ebpf, EbpfError, EbpfLoader};
use bwmon_common::{Kind, MAX_FIELDS, OFFSETS_SYMBOL, Offsets};
use std::io;
use std::path::Path;

/// What it takes to load and attach the programs.
const CAPABILITY: &str = "CAP_BPF and CAP_PERFMON";

/// How much of the verifier's log an error shows.
const LOG_TAIL_LINES: usize = 12;

/// A probe that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// Which.
    pub kind: Kind,
    /// The event it is attached to, as `group:event`.
    pub event: String,
}

/// A probe that this machine cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// Which.
    pub kind: Kind,
    /// The event that it would be attached to, as `group:event`.
    pub event: String,
    /// Why it is not.
    pub why: String,
    /// What the agent does not learn without it.
    pub lost: &'static str,
}

/// Keeps the programs attached; dropping it detaches them.
#[must_use = "dropping it detaches the probes"]
pub struct Guard {
    _ebpf: Ebpf,
}

/// The loaded probes. Take it apart as you like, but keep `guard`.
#[must_use = "dropping it detaches the probes"]
pub struct ProbeSet {
    /// What runs, in the order of [`Kind::ALL`].
    pub attached: Vec<Attached>,
    /// What does not, in the same order.
    pub absent: Vec<Absent>,
    /// Where records come out.
    pub reader: ProbeReader,
    /// Keeps the programs attached.
    pub guard: Guard,
}

/// Another event for a probe, with a name of its own for each of the probe's fields: lets the
/// whole road be tried on a machine whose kernel never fires the real event.
#[derive(Clone, Copy, Debug)]
pub struct StandIn {
    /// The event's group.
    pub group: &'static str,
    /// Its name.
    pub event: &'static str,
    /// `(the probe's field, this event's field)`; a field not listed has the same name.
    pub fields: &'static [(&'static str, &'static str)],
}

/// Prepares a [`ProbeSet`].
pub struct Loader {
    object: Object,
    wanted: Vec<(Kind, StandIn)>,
    speaker: Speaker,
}

impl Loader {
    /// All six probes of the object inside this program.
    ///
    /// # Errors
    /// As [`Object::embedded`].
    pub fn embedded() -> Result<Loader, ProbeError> {
        Ok(Loader::of(Object::embedded()?))
    }

    /// All six probes of this object.
    pub fn of(object: Object) -> Loader {
        let own =
            |kind: Kind| (kind, StandIn { group: kind.group(), event: kind.event(), fields: &[] });
        Loader { object, wanted: Kind::ALL.map(own).to_vec(), speaker: Speaker::stderr() }
    }

    /// Only these probes.
    #[must_use]
    pub fn only(mut self, kinds: &[Kind]) -> Loader {
        self.wanted.retain(|(kind, _)| kinds.contains(kind));
        self
    }

    /// Attaches the probe of this kind to another event.
    #[must_use]
    pub fn stand_in(mut self, kind: Kind, other: StandIn) -> Loader {
        for (_, event) in self.wanted.iter_mut().filter(|(k, _)| *k == kind) {
            *event = other;
        }
        self
    }

    /// Where the probes' own warnings go; standard error if not said.
    #[must_use]
    pub fn warnings(mut self, say: impl Fn(&str) + Send + Sync + 'static) -> Loader {
        self.speaker = Speaker::new(say);
        self
    }

    /// Loads the programs and attaches each one whose event this kernel has. Mounts tracefs if it
    /// is not mounted.
    ///
    /// # Errors
    /// All of [`ProbeError`]. An event that the kernel lacks, or lays out in a way that is not
    /// understood, is no error: it is in [`ProbeSet::absent`].
    pub fn load(self) -> Result<ProbeSet, ProbeError> {
        let tracefs = tracefs::find()?;
        let mut offsets = Offsets::NONE;
        let mut present = Vec::new();
        let mut absent = Vec::new();
        for (kind, event) in self.wanted {
            match row(&tracefs, kind, event)? {
                Ok(found) => {
                    if let Some(row) = offsets.at.get_mut(kind.index()) {
                        *row = found;
                    }
                    present.push((kind, event));
                }
                Err(why) => absent.push(missing(kind, event, why)),
            }
        }
        let mut ebpf = EbpfLoader::new()
            // Nothing in the object is relocated against the kernel's types: offsets come from
            // tracefs. `new` has parsed them all the same; they need not stay.
            .btf(None)
            .override_global(OFFSETS_SYMBOL, &offsets, true)
            .load(self.object.bytes())
            .map_err(load_error)?;
        // The log's ring buffer must be open before programs that write to it are loaded.
        let mut reader = ProbeReader::new(&mut ebpf, self.speaker)?;
        let mut attached = Vec::new();
        for (kind, event) in present {
            match attach(&mut ebpf, &mut reader, kind, event)? {
                Ok(()) => attached.push(Attached { kind, event: name(event) }),
                Err(why) => absent.push(missing(kind, event, why)),
            }
        }
        absent.sort_by_key(|gone| gone.kind);
        Ok(ProbeSet { attached, absent, reader, guard: Guard { _ebpf: ebpf } })
    }
}

/// The offsets of this event's fields, or why the probe cannot have it.
fn row(
    tracefs: &Path,
    kind: Kind,
    event: StandIn,
) -> Result<Result<[u32; MAX_FIELDS], String>, ProbeError> {
    let called = |field: &'static str| {
        let other = event.fields.iter().find(|(ours, _)| *ours == field);
        other.map_or(field, |(_, theirs)| *theirs)
    };
    Ok(match tracefs::describe(tracefs, event.group, event.event)? {
        Described::As(format) => offsets_row(kind, &format, called).map_err(|e| e.to_string()),
        Described::Not(why) => Err(why),
    })
}

fn attach(
    ebpf: &mut Ebpf,
    reader: &mut ProbeReader,
    kind: Kind,
    event: StandIn,
) -> Result<Result<(), String>, ProbeError> {
    let no_program = || ProbeError::BadObject { why: format!("no program `{}`", kind.event()) };
    let program: &mut TracePoint = ebpf
        .program_mut(kind.event())
        .ok_or_else(no_program)?
        .try_into()
        .map_err(|_: ProgramError| no_program())?;
    program
        .load()
        .map_err(|e| program_error(kind, &format!("load the probe `{}`", kind.event()), e))?;
    match program.attach(event.group, event.event) {
        Ok(_) => {}
        // Its module went away since the format was read.
        Err(ProgramError::TracePointError(_)) => return Ok(Err("it has just gone".into())),
        Err(e) => return Err(program_error(kind, &format!("attach to {}", name(event)), e)),
    }
    reader.watch(program)?;
    Ok(Ok(()))
}

fn name(event: StandIn) -> String {
    format!("{}:{}", event.group, event.event)
}

fn missing(kind: Kind, event: StandIn, mut why: String) -> Absent {
    if kind == Kind::BwmonUpdate {
        why.push_str(" (the icc-bwmon driver has it since 6.12, while its module is loaded)");
    }
    Absent { kind, event: name(event), why, lost: lost(kind) }
}

/// What the agent does not learn without a probe.
fn lost(kind: Kind) -> &'static str {
    match kind {
        Kind::IccSetBw => "the votes of other consumers at each interconnect node",
        Kind::IccSetBwEnd => "votes that failed and were rolled back, and how long a vote takes",
        Kind::DevfreqFrequency => "the moments at which a devfreq device changes its frequency",
        Kind::DevfreqMonitor => "the load that a polling devfreq governor sees",
        Kind::BwmonUpdate => "the kernel governor's own measurements: no shadow mode",
        Kind::CpuFrequency => "CPU frequencies between two ticks",
    }
}

fn load_error(error: EbpfError) -> ProbeError {
    let what = "create the probes' maps";
    let io_error = match &error {
        EbpfError::MapError(
            aya::maps::MapError::CreateError { io_error, .. }
            | aya::maps::MapError::SyscallError(aya::sys::SyscallError { io_error, .. }),
        ) => Some(io_error),
        _ => None,
    };
    if io_error.is_some_and(refused) {
        return ProbeError::Permission { what: what.into(), capability: CAPABILITY };
    }
    ProbeError::Kernel { what: what.into(), why: chain(&error) }
}

fn program_error(kind: Kind, what: &str, error: ProgramError) -> ProbeError {
    match error {
        ProgramError::LoadError { io_error, verifier_log } => {
            rejected(kind, what, io_error, &verifier_log.to_string())
        }
        ProgramError::SyscallError(e) if refused(&e.io_error) => {
            ProbeError::Permission { what: what.into(), capability: CAPABILITY }
        }
        other => ProbeError::Kernel { what: what.into(), why: chain(&other) },
    }
}

/// Tells a lack of privilege, lockdown and the verifier's own verdict apart.
fn rejected(kind: Kind, what: &str, source: io::Error, log: &str) -> ProbeError {
    if log.trim().is_empty() && refused(&source) {
        return ProbeError::Permission { what: what.into(), capability: CAPABILITY };
    }
    // Under lockdown the helper is withheld from the verifier.
    if log.contains("bpf_probe_read_kernel") && log.contains("helper") {
        return ProbeError::Lockdown;
    }
    ProbeError::Verifier { program: kind.event().into(), tail: tail(log), source }
}

fn refused(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.trim_end().lines().collect();
    let from = lines.len().saturating_sub(LOG_TAIL_LINES);
    lines.into_iter().skip(from).collect::<Vec<_>>().join("\n")
}

/// An error with its sources; a source whose words the error already says is left out.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let words = source.to_string();
        if !said.contains(&words) {
            said = format!("{said}: {words}");
        }
        next = source.source();
    }
    said
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
