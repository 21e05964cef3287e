//! Running what is left of a plan: rigs, signals, the bar, and every result to its folder.

use crate::cli::experiment::agendas::prepare;
use crate::cli::experiment::progress::bar;
use crate::cli::experiment::sources::Files;
use crate::cli::output::say;
use crate::experiment::{Agenda, Line, Place, Status, plan};
use crate::lab::{Folder, Plan, Prepared, Rig, SimulatedRig, Todo, Work, collect, complete};
use anyhow::bail;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An agenda, what it needs, and how many hands work on it.
pub(super) struct Session {
    agenda: Arc<Agenda>,
    prepared: Option<Arc<Prepared>>,
    jobs: usize,
    dry_run: bool,
    stop: Arc<AtomicBool>,
}

impl Session {
    /// For `agenda`, whose text `text` is that of the file `file`.
    pub(super) fn new(
        (file, text): (&str, &str),
        agenda: Agenda,
        jobs: Option<u16>,
        dry_run: bool,
    ) -> anyhow::Result<Self> {
        let prepared = match agenda.place {
            Place::Simulator => Some(Arc::new(prepare(file, text, &agenda)?)),
            Place::Machine | Place::Ssh(_) => None,
        };
        if dry_run && prepared.is_some() {
            bail!("the model is never changed; --dry-run is for a machine");
        }
        let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
        let stop = Arc::new(AtomicBool::new(false));
        crate::agent::stop_on_signals(stop.clone())?;
        Ok(Self {
            agenda: Arc::new(agenda),
            prepared,
            jobs: jobs.map_or_else(cpus, usize::from),
            dry_run,
            stop,
        })
    }

    /// The same for the baseline against itself.
    pub(super) fn twin(&self, plan: &Plan, text: &str) -> anyhow::Result<Self> {
        let agenda = plan.agenda("agenda.toml", text)?;
        let prepared =
            self.prepared.as_ref().map(|_| Prepared::new(&agenda, &Files)).transpose()?;
        Ok(Self {
            agenda: Arc::new(agenda),
            prepared: prepared.map(Arc::new),
            jobs: self.jobs,
            dry_run: self.dry_run,
            stop: self.stop.clone(),
        })
    }

    /// What is to be kept beside the results.
    pub(super) fn environment(&self) -> anyhow::Result<BTreeMap<String, Value>> {
        let mut environment = BTreeMap::new();
        environment.insert("program".into(), format!("bwmon {}", crate::version()).into());
        if let Some(prepared) = &self.prepared {
            environment.insert("policies".into(), serde_json::to_value(prepared.policies()?)?);
        }
        let mut rigs = self.rigs(1);
        if let Some(rig) = rigs.first_mut() {
            environment
                .insert("machines".into(), vec![serde_json::to_value(rig.environment())?].into());
        }
        Ok(environment)
    }

    fn rigs(&self, count: usize) -> Vec<Box<dyn Rig + Send + '_>> {
        let Some(prepared) = &self.prepared else { return Vec::new() };
        let rig = || SimulatedRig::new(self.agenda.clone(), prepared.clone(), self.stop.clone());
        (0..count.max(1)).map(|_| Box::new(rig()) as Box<dyn Rig + Send>).collect()
    }

    /// Runs what is left of the plan of `folder`.
    pub(super) fn collect(&self, folder: &Folder) -> anyhow::Result<()> {
        let blocks = plan(&self.agenda);
        let planned = blocks.len();
        let old = self.kept(folder)?;
        let whole = complete(&self.agenda, &old);
        let name = |workload: usize| self.agenda.workloads.get(workload).map(|w| w.name.clone());
        let shard = folder.plan().shard();
        let todo: Vec<Todo> = blocks
            .into_iter()
            .enumerate()
            .filter(|(at, _)| shard.has(*at))
            .filter(|(_, block)| {
                name(block.workload).is_some_and(|name| !whole.contains(&(block.block, name)))
            })
            .map(|(at, block)| {
                let of = name(block.workload).unwrap_or_default();
                let same = |line: &&Line| line.block == block.block && line.workload == of;
                let tried = old.iter().filter(same).map(|line| line.attempt + 1).max();
                Todo { block, at, attempt: tried.unwrap_or(0) }
            })
            .collect();
        let mut rigs = self.rigs(self.jobs.min(todo.len()));
        let mut cannot = BTreeMap::new();
        if let Some(rig) = rigs.first_mut() {
            for subject in &self.agenda.subjects {
                if let Some(why) = rig.cannot(subject) {
                    say(&format!("bwmon: {} is skipped: {why}", subject.name));
                    cannot.insert(subject.name.clone(), why);
                }
            }
        }
        self.work(folder, planned, &todo, rigs, &cannot)?;
        if self.stop.load(Ordering::Relaxed) {
            bail!(
                "interrupted; what was measured is in {}, go on with --resume",
                folder.path().display()
            );
        }
        folder.rewrite(&folder.lines()?)
    }

    fn work(
        &self,
        folder: &Folder,
        planned: usize,
        todo: &[Todo],
        rigs: Vec<Box<dyn Rig + Send + '_>>,
        cannot: &BTreeMap<String, String>,
    ) -> anyhow::Result<()> {
        let runs = folder.path().join("runs");
        let work = Work { agenda: &self.agenda, planned, cannot, runs: &runs, stop: &self.stop };
        let mut writer = folder.writer()?;
        let durable = self.prepared.is_none();
        let bar = bar((todo.len() * self.agenda.subjects.len()) as u64, &self.agenda.name);
        writer.log("begun")?;
        let told = collect(work, todo, rigs, &mut |line| {
            writer.add(&line, durable)?;
            bar.inc(1);
            Ok(())
        })?;
        bar.finish_and_clear();
        writer.log("ended")?;
        for what in told {
            say(&format!("bwmon: {what}"));
        }
        Ok(())
    }

    /// The lines of `folder` that stay. A block that was cut short is run again as a whole; on the
    /// model it leaves no trace, since it will say the same.
    fn kept(&self, folder: &Folder) -> anyhow::Result<Vec<Line>> {
        let lines = folder.lines()?;
        let whole = complete(&self.agenda, &lines);
        let kept: Vec<Line> = lines
            .iter()
            .cloned()
            .filter_map(|mut line| {
                if whole.contains(&(line.block, line.workload.clone())) {
                    return Some(line);
                }
                if self.prepared.is_some() {
                    return None;
                }
                if line.status != Status::Void {
                    line.status = Status::Void;
                    line.why = Some("the block was cut short".to_owned());
                }
                Some(line)
            })
            .collect();
        folder.rewrite(&kept)?;
        Ok(kept)
    }
}
