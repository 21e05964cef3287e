//! An agenda with everything that its names stand for, checked before the first run.

use crate::board::Board;
use crate::decide::{Rails, Unvoted};
use crate::experiment::{
    Agenda, FixedLevel, Subject, SubjectKind, Workload as Asked, WorkloadKind,
};
use crate::policy::{NoGovernor, Policy, PolicySpec};
use crate::sim::{
    Calibration, CpufreqVotes, Measuring, SEED_TABLE, SeedTable, Shape, Stream, Workload,
};
use crate::units::{Kbps, Nanos};
use anyhow::{anyhow, bail};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What names in an agenda stand for. The command line has files and what ships in the binary.
pub trait Sources {
    /// The policy called `name` with a preset and tunables.
    ///
    /// # Errors
    /// When there is none, or it does not take them.
    fn policy(
        &self,
        name: &str,
        preset: Option<&str>,
        set: &BTreeMap<String, String>,
    ) -> anyhow::Result<PolicySpec>;

    /// The board called `name`.
    ///
    /// # Errors
    /// When there is none.
    fn board(&self, name: &str) -> anyhow::Result<Board>;

    /// The traffic called `name`.
    ///
    /// # Errors
    /// When there is none.
    fn traffic(&self, name: &str) -> anyhow::Result<Workload>;
}

/// Who governs in a simulated run.
#[derive(Clone, Debug)]
pub(super) enum Governing {
    /// A policy.
    Policy(PolicySpec),
    /// Nobody but the rails.
    Nobody,
}

impl Governing {
    pub(super) fn build(&self, board: &Board) -> anyhow::Result<Box<dyn Policy>> {
        match self {
            Self::Policy(spec) => Ok(spec.clone().build(board)?.0),
            Self::Nobody => Ok(Box::new(NoGovernor)),
        }
    }
}

/// A subject on the model.
#[derive(Clone, Debug)]
pub(super) struct PreparedSubject {
    pub(super) governing: Governing,
    pub(super) board: Arc<Board>,
    pub(super) rails: Vec<Rails>,
    pub(super) votes: CpufreqVotes,
    pub(super) measuring: Measuring,
    pub(super) period: Nanos,
}

/// A workload on the model.
#[derive(Clone, Debug)]
pub(super) struct PreparedWorkload {
    pub(super) workload: Workload,
    pub(super) length: Nanos,
}

/// A policy as it is used, for the record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UsedPolicy {
    /// Its name.
    pub name: String,
    /// The first digits of the SHA-256 of its text; empty for what is compiled in.
    pub digest: String,
    /// Its tunables, with the values in use.
    pub params: BTreeMap<String, serde_json::Value>,
}

/// An agenda for the model, checked.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(super) physical: Board,
    pub(super) calibration: Calibration,
    pub(super) subjects: BTreeMap<String, PreparedSubject>,
    pub(super) workloads: BTreeMap<String, PreparedWorkload>,
}

/// What an agenda names and what is not there, or does not fit.
#[derive(Debug, thiserror::Error)]
pub enum Unprepared {
    /// A subject: its place in the agenda.
    #[error("subject {name}: {error:#}")]
    Subject {
        /// From 0.
        at: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        error: anyhow::Error,
    },
    /// A workload: its place in the agenda.
    #[error("workload {name}: {error:#}")]
    Workload {
        /// From 0.
        at: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        error: anyhow::Error,
    },
    /// The board.
    #[error(transparent)]
    Board(#[from] anyhow::Error),
}

impl Prepared {
    /// Everything that `agenda` names, from `sources`.
    ///
    /// # Errors
    /// What is not there, or does not fit together, with the subject or workload that asks for it.
    pub fn new(agenda: &Agenda, sources: &dyn Sources) -> Result<Self, Unprepared> {
        let physical = sources.board(agenda.board.as_deref().unwrap_or("sdm845"))?;
        let table = SeedTable::parse("<built-in seed-sysbench.toml>", SEED_TABLE)
            .map_err(anyhow::Error::from)?;
        // As in `sim::seed_table`: the costs are those of the table's own machine.
        let measured = sources.board(&table.board)?;
        let calibration = Calibration::from_table(&table, &measured);
        let mut prepared =
            Self { physical, calibration, subjects: BTreeMap::new(), workloads: BTreeMap::new() };
        for (at, subject) in agenda.subjects.iter().enumerate() {
            let name = subject.name.clone();
            match prepared.subject(agenda, subject, sources) {
                Ok(made) => prepared.subjects.insert(name, made),
                Err(error) => return Err(Unprepared::Subject { at, name, error }),
            };
        }
        for (at, workload) in agenda.workloads.iter().enumerate() {
            let name = workload.name.clone();
            match prepared.workload(workload, &table, sources) {
                Ok(made) => prepared.workloads.insert(name, made),
                Err(error) => return Err(Unprepared::Workload { at, name, error }),
            };
        }
        Ok(prepared)
    }

    fn subject(
        &self,
        agenda: &Agenda,
        subject: &Subject,
        sources: &dyn Sources,
    ) -> anyhow::Result<PreparedSubject> {
        let board = match &subject.board {
            Some(name) => sources.board(name)?,
            None => self.physical.clone(),
        };
        let open = |unvoted| -> Vec<Rails> {
            board.domains.iter().map(|domain| Rails::open(&domain.table, unvoted)).collect()
        };
        let (governing, rails, measuring) = match &subject.kind {
            SubjectKind::Policy { policy, preset, set } => {
                let spec = sources.policy(policy, preset.as_deref(), set)?;
                (Governing::Policy(spec), open(Unvoted::Top), Measuring::Polled)
            }
            SubjectKind::Kernel => {
                let native = Governing::Policy(PolicySpec::Native);
                (native, open(Unvoted::Nothing), Measuring::Kernel)
            }
            SubjectKind::Fixed(levels) => {
                let rails = fixed_rails(&board, open(Unvoted::Nothing), levels)?;
                (Governing::Nobody, rails, Measuring::Polled)
            }
            SubjectKind::None => (Governing::Nobody, open(Unvoted::Nothing), Measuring::Polled),
            SubjectKind::Devfreq(_) | SubjectKind::Cpufreq(_) => {
                bail!("the model has no devfreq or cpufreq governors")
            }
        };
        governing.build(&board)?;
        Ok(PreparedSubject {
            governing,
            board: Arc::new(board),
            rails,
            votes: subject.cpufreq_votes.unwrap_or(CpufreqVotes::Ungoverned),
            measuring,
            period: Nanos(subject.period_us.unwrap_or(agenda.period_us) * Nanos::PER_US),
        })
    }

    fn workload(
        &self,
        asked: &Asked,
        table: &SeedTable,
        sources: &dyn Sources,
    ) -> anyhow::Result<PreparedWorkload> {
        match &asked.kind {
            WorkloadKind::Simulated { traffic, duration_ms } => {
                let workload = sources.traffic(traffic)?;
                let round = workload.length();
                let length = duration_ms.map_or(round, |ms| Nanos(ms * Nanos::PER_MS));
                Ok(PreparedWorkload { workload, length })
            }
            WorkloadKind::SeedRow { bs_kb, access } => {
                let is = |row: &&crate::sim::Row| row.bs_kb == *bs_kb && row.kind.name() == access;
                let row = table.rows.iter().find(is).ok_or_else(|| anyhow!("no such row"))?;
                let threads = Stream::ALL_THREADS;
                let mut stream = Stream::cpu(row.kind, row.bs_kb, threads, Shape::Unbounded);
                stream.cost = Some(self.calibration.cost_of(row));
                let what = "sysbench memory".to_owned();
                let workload = Workload::constant("sysbench".to_owned(), what, stream);
                Ok(PreparedWorkload { workload, length: Nanos(table.ms * Nanos::PER_MS) })
            }
            WorkloadKind::Command(_) => bail!("the model runs no commands"),
        }
    }

    /// The policies in use, by subject, for the record.
    ///
    /// # Errors
    /// Never after [`Prepared::new`]: they were made there.
    pub fn policies(&self) -> anyhow::Result<BTreeMap<String, UsedPolicy>> {
        let mut used = BTreeMap::new();
        for (name, subject) in &self.subjects {
            let Governing::Policy(spec) = &subject.governing else { continue };
            let (_, record) = spec.clone().build(&subject.board)?;
            let policy =
                UsedPolicy { name: record.name, digest: record.digest, params: record.params };
            used.insert(name.clone(), policy);
        }
        Ok(used)
    }
}

/// Rails that leave one level, and a vote for it where nobody votes.
fn fixed_rails(
    board: &Board,
    mut rails: Vec<Rails>,
    levels: &BTreeMap<String, FixedLevel>,
) -> anyhow::Result<Vec<Rails>> {
    for (name, level) in levels {
        let index = board.domain_index(name);
        let found = index.and_then(|at| board.domains.get(at).zip(rails.get_mut(at)));
        let Some((domain, rails)) = found else {
            let known: Vec<&str> = board.domains.iter().map(|d| d.name.as_str()).collect();
            bail!("board {} has no domain {name}; it has {}", board.id, known.join(", "));
        };
        let level = match level {
            FixedLevel::Min => crate::board::Level::LOWEST,
            FixedLevel::Max => domain.table.top(),
            FixedLevel::Kbps(kbps) => domain.table.ceil(Kbps(*kbps)),
        };
        (rails.min_level, rails.max_level, rails.unvoted) = (level, level, Unvoted::Top);
    }
    Ok(rails)
}
