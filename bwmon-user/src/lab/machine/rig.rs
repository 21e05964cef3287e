//! The rig: subjects tried, put in place, and put back.

use super::agent;
use super::conditions::Conditions;
use super::environment;
use super::host::{Call, Host, outputs};
use super::journal;
use super::knobs::Knobs;
use super::measure;
use super::process::Ending;
use super::put_back;
use super::settings::Settings;
use super::stop::Stop;
use super::subject::Subjects;
use super::trouble::Trouble;
use super::work::Worker;
use crate::experiment::{From, Measure, Status, Subject, SubjectKind};
use crate::lab::rig::{Job, Outcome, Rig};
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a trial of an agent may take.
const TRIAL: Duration = Duration::from_secs(30);

/// How often the temperature is looked at while it has to fall.
const COOLING: Duration = Duration::from_millis(500);

/// Runs on a machine.
#[derive(Debug)]
pub struct MachineRig {
    pub(super) settings: Settings,
    pub(super) host: Host,
    pub(super) knobs: Knobs,
    pub(super) subjects: Subjects,
    pub(super) worker: Worker,
    pub(super) stop: Stop,
    /// What the hottest zone was at when the first run began.
    began_c: Option<f64>,
    /// An agent ended badly, and may have left something.
    pub(super) left: bool,
    notes: Vec<String>,
}

impl MachineRig {
    /// A rig for the agenda of `settings`. What an earlier run of the same experiment could not put
    /// back is put back first.
    ///
    /// # Errors
    /// When the machine does not answer, or an expression is none.
    pub fn new(settings: Settings) -> anyhow::Result<Self> {
        let notes = put_back::put_back(&settings.results, &settings.site);
        let host = settings.site.host().context("cannot reach the machine")?;
        host.read(&[]).context("cannot reach the machine")?;
        let stop = Stop(settings.stop.clone());
        let measures = settings.agenda.measures.iter().map(with_expression);
        let measures = measures.collect::<anyhow::Result<_>>()?;
        Ok(Self {
            worker: Worker::new(measures, &settings.agenda_dir, stop.clone()),
            knobs: Knobs::new(&settings.results, &host),
            subjects: Subjects::new(),
            settings,
            host,
            stop,
            began_c: None,
            left: false,
            notes,
        })
    }

    /// What was put back meanwhile, for the operator; each note once.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Tries whether `subject` can be had; an agent runs for two ticks.
    fn tried(&mut self, subject: &Subject) -> anyhow::Result<()> {
        let changes = matches!(
            subject.kind,
            SubjectKind::Kernel | SubjectKind::Devfreq(_) | SubjectKind::Cpufreq(_)
        );
        if changes && self.settings.dry_run {
            bail!("a dry run changes nothing");
        }
        self.subjects.knobs(&self.host, &self.settings, subject)?;
        match subject.kind {
            SubjectKind::Policy { .. } | SubjectKind::Fixed(_) => self.trial(subject),
            _ => Ok(()),
        }
    }

    /// Has put back what an agent left that ended badly.
    pub(super) fn put_back_agents(&mut self) {
        if self.left {
            let results = self.settings.results.clone();
            let said = put_back::restore(&mut self.host, &self.settings.site, &results);
            self.left = said.iter().any(|line| line.starts_with(put_back::FAILED));
            self.notes.extend(said);
        }
    }

    fn trial(&mut self, subject: &Subject) -> anyhow::Result<()> {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = subject.name.chars().map(plain).collect();
        let folder = absolute(&self.settings.results.join("trials").join(name))?;
        fs::create_dir_all(&folder)?;
        let (mut argv, _) = self.subjects.agent(&mut self.host, &self.settings, subject)?;
        let journal = agent::journal_path(&mut self.host, &folder)?;
        argv.extend(["--ticks", "2", "--journal"].map(str::to_owned));
        argv.push(journal.clone());
        self.knobs.agent(Some(&journal))?;
        let output = folder.join("agent");
        let call = Call { argv: &argv, cwd: Path::new("/"), output: &output, timeout: TRIAL };
        let ran = self.host.run(&call, &self.stop);
        self.knobs.agent(None)?;
        match ran?.ending {
            Ending::Code(0) => {}
            Ending::Stopped => bail!("interrupted"),
            Ending::TimedOut => bail!("the agent did not end in {} s", TRIAL.as_secs()),
            _ => bail!("{}", agent::said(&outputs(&output)[1])),
        }
        let here = folder.join("agent.jsonl");
        if let Some(ssh) = self.host.ssh() {
            ssh.fetch(&journal, &here)?;
        }
        self.subjects.learn(journal::header_of(&here)?.board);
        Ok(())
    }

    /// Waits until the machine is as cool as it has to be.
    pub(super) fn cool_down(&mut self, said: &mut BTreeMap<String, Value>) -> Result<(), Trouble> {
        let Some(above) = self.settings.agenda.limits.cooldown_c else { return Ok(()) };
        let hottest = Conditions::look(&self.host, [])?.hottest_c();
        let (Some(now), Some(most)) = (hottest, self.began_c.map(|began| began + above)) else {
            self.began_c = self.began_c.or(hottest);
            return Ok(());
        };
        let timeout = Duration::from_secs(self.settings.agenda.limits.cooldown_timeout_s);
        let (began, mut last) = (Instant::now(), now);
        let cool = self.stop.wait(timeout, COOLING, || {
            let now = Conditions::look(&self.host, []).ok().and_then(|now| now.hottest_c());
            last = now.unwrap_or(last);
            last <= most
        });
        said.insert("cooldown_waited_ms".into(), json!(began.elapsed().as_millis() as u64));
        if cool || self.stop.asked() {
            return Ok(());
        }
        let waited = timeout.as_secs();
        Err(Trouble::Void(format!("after {waited} s still {last} °C, more than {most} °C")))
    }
}

fn with_expression(measure: &Measure) -> anyhow::Result<super::work::Asked> {
    let expression = match &measure.from {
        From::Regex(text) => {
            let of = || format!("the expression of {}", measure.name);
            Some(measure::expression(text).with_context(of)?)
        }
        _ => None,
    };
    Ok((measure.clone(), expression))
}

/// Agents run elsewhere, and are found by the whole name of their journal.
pub(super) fn absolute(path: &Path) -> std::io::Result<PathBuf> {
    std::path::absolute(path)
}

impl Rig for MachineRig {
    fn cannot(&mut self, subject: &Subject) -> Option<String> {
        self.tried(subject).err().map(|why| format!("{why:#}"))
    }

    fn environment(&mut self) -> BTreeMap<String, Value> {
        environment::environment(&self.host, &self.settings.agenda_dir)
    }

    fn run(&mut self, job: &Job<'_>) -> Outcome {
        let mut conditions = BTreeMap::new();
        let ended = self.attempt(job, &mut conditions);
        let (status, why, measures) = match ended {
            // Whatever else went wrong, it may be because we stopped.
            _ if self.stop.asked() => {
                (Status::Void, Some("interrupted".to_owned()), BTreeMap::new())
            }
            Ok(measures) => (Status::Done, None, measures),
            Err(trouble) => {
                let (status, why) = trouble.parts();
                (status, Some(why), BTreeMap::new())
            }
        };
        Outcome { status, why, measures, conditions }
    }

    fn end(&mut self) -> Vec<String> {
        let mut said = self.knobs.end(&self.host);
        self.put_back_agents();
        said.extend(self.take_notes());
        self.host.tidy();
        said
    }
}
