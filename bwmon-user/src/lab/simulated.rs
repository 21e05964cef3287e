//! Runs on the model.

use super::prepared::{Prepared, PreparedSubject, PreparedWorkload};
use super::rig::{Job, Outcome, Rig};
use super::trace::Tracer;
use crate::board::Board;
use crate::experiment::{Agenda, From, Measure, Meter, ModelMeasure, Status, Subject, Ticked};
use crate::governor::{Governor, Origin};
use crate::journal::{EntryView, JournalError, Note};
use crate::ports::{Clock, JournalSink};
use crate::random::Draw;
use crate::run::{Doors, Pace, run};
use crate::sim::{DomainTotals, ResourceTotals, Setup, Simulation};
use crate::units::Nanos;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The model. What it says is a function of agenda, block, workload and subject, so that a shard
/// says what the whole would have said.
#[derive(Clone)]
pub struct SimulatedRig {
    agenda: Arc<Agenda>,
    prepared: Arc<Prepared>,
    stop: Arc<AtomicBool>,
    traced: bool,
}

impl SimulatedRig {
    /// A rig for what was prepared of `agenda`. Runs are short; `stop` ends one at its next tick.
    pub fn new(agenda: Arc<Agenda>, prepared: Arc<Prepared>, stop: Arc<AtomicBool>) -> Self {
        Self { agenda, prepared, stop, traced: true }
    }

    /// The same without traces for charts.
    #[must_use]
    pub fn untraced(self) -> Self {
        Self { traced: false, ..self }
    }

    fn measured(
        &self,
        job: &Job<'_>,
        subject: &PreparedSubject,
        workload: &PreparedWorkload,
    ) -> anyhow::Result<BTreeMap<String, f64>> {
        let board = &subject.board;
        let setup = Setup {
            physical: self.prepared.physical.clone(),
            votes: subject.votes,
            measuring: subject.measuring,
            calibration: self.prepared.calibration.clone(),
        };
        let mut sim = Simulation::new(board, workload.workload.clone(), setup);
        let policy = subject.governing.build(board)?;
        let mut governor = Governor::new(board.clone(), policy, subject.rails.clone(), &[]);
        let mut meter = MeterSink {
            meter: Meter::new(board),
            counting: false,
            // One block is enough to look at.
            tracer: (self.traced && job.block == 0).then(Tracer::default),
        };
        // Where the ticks stand to the workload's phases is chance; it is the same for all subjects
        // of a block.
        let mut draw = self.draw(job, &[]);
        sim.clock.sleep_until(Nanos(draw.below(subject.period.0.max(1))));
        self.walk(&mut governor, &mut sim, &mut meter, subject, self.settle())?;
        let before = Known::of(&sim);
        meter.begin(&governor);
        self.walk(&mut governor, &mut sim, &mut meter, subject, workload.length)?;
        if let Some(tracer) = &meter.tracer {
            tracer.keep(job.folder);
        }
        let known = Known::of(&sim).since(&before);
        let mut measures = BTreeMap::new();
        for (index, measure) in self.agenda.measures.iter().enumerate() {
            if let Some(value) = value(measure, &meter.meter, &known, board) {
                let disturbed = value * self.disturbance(job, index);
                measures.insert(measure.name.clone(), disturbed);
            }
        }
        Ok(measures)
    }

    fn settle(&self) -> Nanos {
        Nanos(self.agenda.settle_ms * Nanos::PER_MS)
    }

    fn walk(
        &self,
        governor: &mut Governor,
        sim: &mut Simulation,
        journal: &mut MeterSink,
        subject: &PreparedSubject,
        length: Nanos,
    ) -> anyhow::Result<()> {
        let doors = Doors {
            source: &mut sim.source,
            actuator: &mut sim.actuator,
            clock: &mut sim.clock,
            journal,
        };
        let ticks = Some(length.0.div_ceil(subject.period.0.max(1)));
        run(governor, doors, Pace { period: subject.period, ticks, stop: &self.stop })?;
        Ok(())
    }

    /// Numbers of this run's own.
    fn draw(&self, job: &Job<'_>, more: &[u64]) -> Draw {
        let workload = self.agenda.workloads.iter().position(|w| w.name == job.workload.name);
        let mut key = vec![self.agenda.seed, 3, u64::from(job.block)];
        key.push(workload.unwrap_or_default() as u64);
        key.extend(more);
        Draw::new(&key)
    }

    /// What the rig makes of a value: noise of this run, and the drift so far.
    fn disturbance(&self, job: &Job<'_>, measure: usize) -> f64 {
        let rig = self.agenda.rig;
        let subject = self.agenda.subject_names().position(|name| name == job.subject.name);
        let mut draw = self.draw(job, &[subject.unwrap_or_default() as u64, measure as u64]);
        let noise = 1.0 + rig.noise_pct / 100.0 * draw.normal();
        (noise * (1.0 + rig.drift_pct / 100.0 * job.progress)).max(0.0)
    }
}

impl Rig for SimulatedRig {
    fn cannot(&mut self, _: &Subject) -> Option<String> {
        None
    }

    fn environment(&mut self) -> BTreeMap<String, Value> {
        [("model".to_owned(), Value::from(self.prepared.physical.id.clone()))].into()
    }

    fn run(&mut self, job: &Job<'_>) -> Outcome {
        let subject = self.prepared.subjects.get(&job.subject.name);
        let workload = self.prepared.workloads.get(&job.workload.name);
        let (Some(subject), Some(workload)) = (subject, workload) else {
            return Outcome::without(Status::Failed, "not prepared");
        };
        match self.measured(job, subject, workload) {
            Err(error) => Outcome::without(Status::Failed, format!("{error:#}")),
            Ok(_) if self.stop.load(std::sync::atomic::Ordering::Relaxed) => {
                Outcome::without(Status::Void, "interrupted")
            }
            Ok(measures) => {
                let (status, why) = (Status::Done, None);
                Outcome { status, why, measures, conditions: BTreeMap::new() }
            }
        }
    }

    fn end(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// A value before it is disturbed.
fn value(measure: &Measure, meter: &Meter, known: &Known, board: &Board) -> Option<f64> {
    match &measure.from {
        From::Journal { what, domain } => meter.figure(*what, domain.as_deref()),
        From::Model { what, domain } => known.value(*what, domain.as_deref(), board),
        From::Regex(_) | From::Json(_) | From::WallTime | From::Energy(_) => None,
    }
}

/// Counts what is journalled once it counts.
struct MeterSink {
    meter: Meter,
    counting: bool,
    tracer: Option<Tracer>,
}

impl MeterSink {
    fn begin(&mut self, governor: &Governor) {
        self.counting = true;
        for index in 0..governor.board().domains.len() {
            self.meter.settled(index, governor.level(index));
        }
    }
}

impl JournalSink for MeterSink {
    fn append(&mut self, entry: &EntryView<'_>) -> Result<(), JournalError> {
        if !self.counting {
            return Ok(());
        }
        let window = entry.sample().window;
        for (index, (name, tick, _)) in entry.domains().enumerate() {
            if let Some(tracer) = &mut self.tracer {
                let vote = tick.decision.level.map(|level| self.meter.kbps_of(index, level));
                let peak = tick.observation.measured.map(|measured| measured.peak_kbps);
                tracer.tick(index, name, window.end_ns, peak, vote);
            }
            let ticked = Ticked {
                span: window.end_ns.since(window.start_ns),
                peak: tick.observation.measured.map(|measured| measured.peak_kbps),
                level: tick.decision.level,
                fault: matches!(tick.origin, Origin::Fault(_)),
            };
            self.meter.tick(index, ticked);
        }
        Ok(())
    }

    fn note(&mut self, _: &Note) -> Result<(), JournalError> {
        Ok(())
    }
}

/// The model's totals.
struct Known {
    useful_kb: f64,
    time: Nanos,
    clocks: Vec<(String, ResourceTotals)>,
    domains: Vec<DomainTotals>,
}

impl Known {
    fn of(sim: &Simulation) -> Self {
        let plant = sim.plant();
        let clocks = plant.resources().map(|(name, totals)| (name.to_owned(), totals.clone()));
        Self {
            useful_kb: plant.useful_kb(),
            time: sim.clock.now(),
            clocks: clocks.collect(),
            domains: plant.totals(),
        }
    }

    /// What came since `before`.
    fn since(mut self, before: &Self) -> Self {
        self.useful_kb -= before.useful_kb;
        self.time = Nanos(self.time.since(before.time).0);
        for ((_, now), (_, then)) in self.clocks.iter_mut().zip(&before.clocks) {
            now.time = now.time.since(then.time);
            now.kbps_ns -= then.kbps_ns.min(now.kbps_ns);
            now.in_force_kbps_ns -= then.in_force_kbps_ns.min(now.in_force_kbps_ns);
            now.transitions -= then.transitions.min(now.transitions);
        }
        for (now, then) in self.domains.iter_mut().zip(&before.domains) {
            now.below_demand = now.below_demand.since(then.below_demand);
        }
        self
    }

    fn value(&self, what: ModelMeasure, domain: Option<&str>, board: &Board) -> Option<f64> {
        let clock = || {
            let is = |(name, _): &&(String, ResourceTotals)| Some(name.as_str()) == domain;
            self.clocks.iter().find(is).map(|(_, totals)| totals)
        };
        let seconds = self.time.0 as f64 / Nanos::PER_S as f64;
        match what {
            ModelMeasure::ThroughputKbps => (seconds > 0.0).then(|| self.useful_kb / seconds),
            ModelMeasure::MeanVoteKbps => clock().map(|totals| totals.mean().0 as f64),
            ModelMeasure::VoteIntegralKbpsS => {
                clock().map(|totals| totals.in_force_kbps_ns as f64 / Nanos::PER_S as f64)
            }
            ModelMeasure::Transitions => clock().map(|totals| totals.transitions as f64),
            ModelMeasure::BelowDemandMs => {
                let totals = self.domains.get(board.domain_index(domain?)?)?;
                Some(totals.below_demand.0 as f64 / Nanos::PER_MS as f64)
            }
        }
    }
}
