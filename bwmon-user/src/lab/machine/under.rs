//! One run: the workload under its subject, what disturbed it, and what was measured.

use super::agent::{self, Agent};
use super::conditions::{Conditions, disturbed};
use super::journal::{Span, Told, Whose};
use super::rig::{MachineRig, absolute};
use super::trouble::Trouble;
use super::work::Worked;
use crate::experiment::{Command, From, JournalMeasure, SubjectKind, WorkloadKind};
use crate::lab::rig::Job;
use crate::units::Nanos;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// What an agent may run longer than everything that it is wanted for: one that nobody ends any more
/// ends itself and puts back what it changed.
const BEYOND: Duration = Duration::from_secs(120);

/// Facts about a run, by name.
type Facts = BTreeMap<String, Value>;

/// A run in progress.
struct Run<'a> {
    job: &'a Job<'a>,
    command: &'a Command,
    folder: PathBuf,
    /// Files that were written for it.
    knobs: BTreeMap<String, String>,
    agent: Option<Agent>,
    whose: Whose,
}

impl MachineRig {
    /// Puts the subject in place, works under it, and says what was measured.
    pub(super) fn attempt(
        &mut self,
        job: &Job<'_>,
        facts: &mut Facts,
    ) -> Result<BTreeMap<String, f64>, Trouble> {
        let WorkloadKind::Command(command) = &job.workload.kind else {
            let why = "traffic of the model cannot run on a machine";
            return Err(Trouble::Failed(why.to_owned()));
        };
        if self.stop.asked() {
            return Err(Trouble::Void("interrupted".to_owned()));
        }
        let folder = absolute(job.folder)?;
        fs::create_dir_all(&folder)?;
        self.worker.check(&self.host, command)?;
        self.cool_down(facts)?;
        let knobs = self.subjects.knobs(&self.host, &self.settings, job.subject);
        let knobs = knobs.map_err(|error| Trouble::Void(format!("{error:#}")))?;
        self.knobs.apply(&self.host, &knobs)?;
        if !knobs.is_empty() {
            facts.insert("requested".into(), json!(knobs));
        }
        let mut run = Run { job, command, folder, knobs, agent: None, whose: Whose::Kernels };
        let result = self.beside(&mut run, facts);
        // Before anything else runs on this machine.
        self.put_back_agents();
        self.knobs.agent(None)?;
        result
    }

    /// With an agent, where there is to be one.
    fn beside(
        &mut self,
        run: &mut Run<'_>,
        facts: &mut Facts,
    ) -> Result<BTreeMap<String, f64>, Trouble> {
        let measured = &self.settings.agenda.measures;
        let wanted = measured.iter().any(|m| matches!(m.from, From::Journal { .. }));
        let governs = is_agent(run.job);
        if governs || wanted {
            match self.start(run) {
                Ok(()) => {}
                Err(error) if governs => {
                    self.end_agent(run, facts);
                    return Err(Trouble::Void(format!("{error:#}")));
                }
                Err(error) => {
                    self.end_agent(run, facts);
                    run.agent = None;
                    facts.insert("journal_unknown".into(), json!(format!("{error:#}")));
                }
            }
        }
        let mut worked = Worked::default();
        let mut span = Span::default();
        let result = self.work(run, &mut worked, &mut span, facts);
        facts.insert("took_s".into(), worked.json());
        // Ended whatever happened.
        let trouble = self.end_agent(run, facts);
        if let Some(trouble) = trouble.filter(|_| governs) {
            return Err(Trouble::Void(trouble));
        }
        let told = self.told(run, span, facts);
        if let Some(told) = told.as_ref().filter(|_| run.job.block == 0) {
            told.tracer.keep(&run.folder);
        }
        let disturbed = told.as_ref().and_then(|told| told.disturbed.clone());
        match (result, disturbed.filter(|_| governs)) {
            (Err(Trouble::Void(why)), _) | (_, Some(why)) => Err(Trouble::Void(why)),
            (Err(failed), None) => Err(failed),
            (Ok(()), None) => Ok(self.measures(&worked, run.whose, told.as_ref())),
        }
    }

    /// Starts the agent, and waits for its first tick.
    fn start(&mut self, run: &mut Run<'_>) -> anyhow::Result<()> {
        for name in ["agent.jsonl", "agent.out", "agent.err"] {
            // Of an attempt before: its ticks must not be taken for the first.
            let _ = fs::remove_file(run.folder.join(name));
        }
        let subject = run.job.subject;
        let (mut argv, whose) = self.subjects.agent(&mut self.host, &self.settings, subject)?;
        let journal = agent::journal_path(&mut self.host, &run.folder)?;
        let most = self.longest(run.command) + BEYOND;
        argv.extend(["--duration-ms".to_owned(), most.as_millis().to_string()]);
        argv.extend(["--journal".to_owned(), journal.clone()]);
        run.whose = whose;
        self.knobs.agent(Some(&journal))?;
        let agent = Agent::start(&mut self.host, &argv, &run.folder, whose)?;
        Ok(run.agent.insert(agent).wait_ready(&self.host, &self.stop)?)
    }

    /// What a run may take at most.
    fn longest(&self, command: &Command) -> Duration {
        let runs = u64::from(command.warmup) + u64::from(command.repetitions);
        let work = Duration::from_secs(runs.saturating_mul(command.timeout_s));
        work.saturating_add(Duration::from_millis(self.settings.agenda.settle_ms))
            .min(Duration::from_secs(30 * 24 * 3_600))
    }

    /// Settles, warms up, works, and compares the machine before with the machine after.
    fn work(
        &mut self,
        run: &mut Run<'_>,
        worked: &mut Worked,
        span: &mut Span,
        facts: &mut Facts,
    ) -> Result<(), Trouble> {
        let settle_ms = self.settings.agenda.settle_ms;
        self.stop.pause(Duration::from_millis(settle_ms));
        facts.insert("settle_ms".into(), json!(settle_ms));
        let governed = is_agent(run.job) && !self.settings.dry_run;
        let before = Conditions::look(&self.host, run.knobs.keys())?;
        facts.insert("before".into(), before.json());
        // What is wrong already need not be waited for.
        void(disturbed(&before, &before, &run.knobs, governed))?;
        let result = self.commands(run, worked, span);
        let after = Conditions::look(&self.host, run.knobs.keys())?;
        facts.insert("after".into(), after.json());
        void(disturbed(&before, &after, &run.knobs, governed))?;
        result
    }

    fn commands(
        &mut self,
        run: &mut Run<'_>,
        worked: &mut Worked,
        span: &mut Span,
    ) -> Result<(), Trouble> {
        self.worker.warm_up(&mut self.host, run.command, &run.folder)?;
        let moment = |rig: &Self, run: &Run<'_>| run.agent.as_ref().and_then(|a| a.now(&rig.host));
        span.begin = moment(self, run).unwrap_or_default();
        let result = self.worker.work(&mut self.host, run.command, &run.folder, worked);
        span.end = moment(self, run).unwrap_or(Nanos(0));
        result
    }

    /// Ends the agent, if there is one, and says what is wrong with how it ended.
    fn end_agent(&mut self, run: &mut Run<'_>, facts: &mut Facts) -> Option<String> {
        let ended = run.agent.as_mut()?.end(&self.host);
        if let Some(summary) = &ended.summary {
            facts.insert("summary".into(), summary.clone());
        }
        self.left |= ended.trouble.is_some();
        ended.trouble
    }

    /// What the agent's journal tells; why not, if it cannot be read.
    fn told(&self, run: &Run<'_>, span: Span, facts: &mut Facts) -> Option<Told> {
        match run.agent.as_ref()?.told(span) {
            Ok(told) => {
                facts.insert("agent".into(), json!(told.facts));
                Some(told)
            }
            Err(error) => {
                facts.insert("journal_unknown".into(), json!(format!("{error:#}")));
                None
            }
        }
    }

    fn measures(
        &self,
        worked: &Worked,
        whose: Whose,
        told: Option<&Told>,
    ) -> BTreeMap<String, f64> {
        let mut measures = worked.measures();
        for measure in &self.settings.agenda.measures {
            let From::Journal { what, domain } = &measure.from else { continue };
            // An agent that looks on has faults of its own, if any.
            if *what == JournalMeasure::Faults && whose == Whose::Kernels {
                continue;
            }
            let value = told.and_then(|told| told.meter.figure(*what, domain.as_deref()));
            measures.extend(value.map(|value| (measure.name.clone(), value)));
        }
        measures
    }
}

/// Whether the subject is an agent, and not something beside which one looks on.
fn is_agent(job: &Job<'_>) -> bool {
    matches!(job.subject.kind, SubjectKind::Policy { .. } | SubjectKind::Fixed(_))
}

fn void(why: Option<String>) -> Result<(), Trouble> {
    why.map_or(Ok(()), |why| Err(Trouble::Void(why)))
}
