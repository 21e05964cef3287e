//! Running what is left of a plan: rigs, signals, the bar, and every result to its folder.

use super::Args;
use crate::cli::experiment::agendas::prepare;
use crate::cli::experiment::progress::bar;
use crate::cli::output::say;
use crate::experiment::{Agenda, Line, Place, Status, plan};
use crate::lab::machine::{MachineRig, Settings, Site};
use crate::lab::{Folder, Plan, Prepared, Rig, SimulatedRig, Todo, Work, collect, complete};
use crate::live::Root;
use anyhow::{Context, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An agenda, what it needs, and where it runs.
pub(super) struct Session {
    agenda: Arc<Agenda>,
    ground: Ground,
    stop: Arc<AtomicBool>,
}

/// Where runs happen.
#[derive(Clone)]
enum Ground {
    /// On the model, with so many hands.
    Model(Arc<Prepared>, usize),
    /// On a machine, one run after the other.
    Machine { site: Site, agenda_dir: PathBuf, dry_run: bool },
}

impl Ground {
    fn is_model(&self) -> bool {
        matches!(self, Self::Model(..))
    }
}

impl Session {
    /// For `agenda`, whose text `text` is that of the file `file`.
    pub(super) fn new(args: &Args, file: &str, text: &str, agenda: Agenda) -> anyhow::Result<Self> {
        let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
        let ground = match &agenda.place {
            Place::Simulator if args.dry_run => {
                bail!("the model is never changed; --dry-run is for a machine")
            }
            Place::Simulator => {
                let prepared = Arc::new(prepare(file, text, &agenda)?);
                Ground::Model(prepared, args.jobs.map_or_else(cpus, usize::from))
            }
            Place::Machine | Place::Ssh(_) if args.jobs.is_some() => {
                bail!("a machine does one run at a time; --jobs is for the model")
            }
            Place::Machine | Place::Ssh(_) => Ground::Machine {
                site: site(args, &agenda.place)?,
                // A shipped agenda has no folder of its own.
                agenda_dir: match Path::new(file).parent() {
                    Some(folder) if Path::new(file).exists() && folder != Path::new("") => {
                        folder.to_owned()
                    }
                    _ => PathBuf::from("."),
                },
                dry_run: args.dry_run,
            },
        };
        let stop = Arc::new(AtomicBool::new(false));
        crate::agent::stop_on_signals(stop.clone())?;
        Ok(Self { agenda: Arc::new(agenda), ground, stop })
    }

    /// The same for the baseline against itself.
    pub(super) fn twin(&self, plan: &Plan, text: &str) -> anyhow::Result<Self> {
        let agenda = plan.agenda("agenda.toml", text)?;
        let ground = match &self.ground {
            Ground::Model(_, jobs) => {
                Ground::Model(Arc::new(prepare("agenda.toml", text, &agenda)?), *jobs)
            }
            machine => machine.clone(),
        };
        Ok(Self { agenda: Arc::new(agenda), ground, stop: self.stop.clone() })
    }

    /// What is to be kept beside the results, which go to `out`.
    pub(super) fn environment(&self, out: &Path) -> anyhow::Result<BTreeMap<String, Value>> {
        let mut environment = BTreeMap::new();
        environment.insert("program".into(), format!("bwmon {}", crate::version()).into());
        if let Ground::Model(prepared, _) = &self.ground {
            environment.insert("policies".into(), serde_json::to_value(prepared.policies()?)?);
        }
        let mut rigs = self.rigs(1, out)?;
        if let Some(rig) = rigs.first_mut() {
            let machine = serde_json::to_value(rig.environment())?;
            environment.insert("machines".into(), vec![machine].into());
        }
        Ok(environment)
    }

    /// Rigs for so many blocks, with results in `out`.
    fn rigs(&self, blocks: usize, out: &Path) -> anyhow::Result<Vec<Box<dyn Rig + Send + '_>>> {
        match &self.ground {
            Ground::Model(prepared, jobs) => {
                let rig =
                    || SimulatedRig::new(self.agenda.clone(), prepared.clone(), self.stop.clone());
                let hands = (*jobs).min(blocks).max(1);
                Ok((0..hands).map(|_| Box::new(rig()) as Box<dyn Rig + Send>).collect())
            }
            Ground::Machine { site, agenda_dir, dry_run } => {
                let mut rig = MachineRig::new(Settings {
                    site: site.clone(),
                    agenda: Agenda::clone(&self.agenda),
                    agenda_dir: agenda_dir.clone(),
                    results: out.to_owned(),
                    dry_run: *dry_run,
                    stop: self.stop.clone(),
                })?;
                for note in rig.take_notes() {
                    say(&format!("bwmon: {note}"));
                }
                Ok(vec![Box::new(rig)])
            }
        }
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
        let mut rigs = self.rigs(todo.len(), folder.path())?;
        let mut cannot = BTreeMap::new();
        if let Some(rig) = rigs.first_mut() {
            for subject in &self.agenda.subjects {
                if let Some(why) = rig.cannot(subject) {
                    say(&format!("bwmon: {} is skipped: {why}", subject.name));
                    cannot.insert(subject.name.clone(), why);
                }
            }
        }
        if !todo.is_empty() && cannot.len() == self.agenda.subjects.len() {
            bail!(
                "no subject of the agenda can run here; when that is mended, go on with --resume"
            );
        }
        if let Some(base) = self.agenda.baseline().filter(|base| cannot.contains_key(&base.name)) {
            say(&format!("bwmon: without the baseline {} nothing will be compared", base.name));
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
        let durable = !self.ground.is_model();
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
                if self.ground.is_model() {
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

/// The machine, as the options say.
fn site(args: &Args, place: &Place) -> anyhow::Result<Site> {
    let site = match place {
        Place::Ssh(name) => Site::over_ssh(name),
        _ => Site::here(std::env::current_exe().context("which program is this?")?),
    };
    Ok(Site { root: Root::at(&args.root), state_dir: args.state_dir.clone(), ..site })
}
