//! `knobs.json`: what was in the machine's files before the experiment wrote them.

use super::host::Host;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

/// The note's file in a folder of results.
pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join("knobs.json")
}

/// One file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Item {
    /// The file, as the machine knows it.
    pub(super) path: String,
    /// What was in it.
    pub(super) before: String,
    /// All that was written to it since; the last may not have been.
    pub(super) wrote: Vec<String>,
    /// What a governor loses when another takes its place: its tunables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) then: Vec<(String, String)>,
}

/// The note: the file's first line says of which boot it is, each further one is an [`Item`].
#[derive(Debug)]
pub(super) struct Note {
    boot: String,
    /// The journal of an agent that may run.
    pub(super) agent: Option<String>,
    items: Vec<Item>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    schema: u32,
    boot_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
}

const SCHEMA: u32 = 1;

impl Note {
    /// Nothing noted.
    pub(super) fn new(host: &Host) -> Self {
        let boot = host.line("/proc/sys/kernel/random/boot_id").ok().flatten().unwrap_or_default();
        Self { boot, agent: None, items: Vec::new() }
    }

    /// What `file` says, if it is there.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn load(file: &Path) -> io::Result<Option<Self>> {
        let input = match File::open(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => io::BufReader::new(opened?),
        };
        let mut lines = input.lines();
        let head = lines.next().transpose()?.unwrap_or_default();
        let head: Head = serde_json::from_str(&head)?;
        if head.schema != SCHEMA {
            return Err(io::Error::other(format!("schema {} is not known", head.schema)));
        }
        let items = lines.map(|line| Ok(serde_json::from_str(&line?)?));
        let items = items.collect::<io::Result<_>>()?;
        Ok(Some(Self { boot: head.boot_id, agent: head.agent, items }))
    }

    /// Whether the machine has been started anew since, and so forgotten what is noted.
    pub(super) fn is_of_another_boot(&self, now: &Self) -> bool {
        self.boot != now.boot
    }

    /// Notes that `value` is about to be written to `path`, which holds `now`.
    ///
    /// # Errors
    /// When it cannot be noted: then nothing must be written.
    pub(super) fn before_write(
        &mut self,
        host: &Host,
        file: &Path,
        path: &str,
        now: &str,
        value: &str,
    ) -> io::Result<()> {
        match self.items.iter_mut().find(|item| item.path == path) {
            // What is there now is somebody else's: that is what is put back from now on.
            Some(item) if now != item.before && !item.wrote.iter().any(|ours| ours == now) => {
                *item = Item::of(host, path, now, value)?;
            }
            Some(item) => item.wrote.push(value.to_owned()),
            None => self.items.push(Item::of(host, path, now, value)?),
        }
        self.save(file)
    }

    /// To a new file, to disk, and over the old one: a crash leaves the old or the new. Nothing noted
    /// is no file.
    ///
    /// # Errors
    /// As the system says.
    pub(super) fn save(&self, file: &Path) -> io::Result<()> {
        if self.items.is_empty() && self.agent.is_none() {
            return match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let head = Head { schema: SCHEMA, boot_id: self.boot.clone(), agent: self.agent.clone() };
        let mut text = serde_json::to_string(&head)? + "\n";
        for item in &self.items {
            text += &(serde_json::to_string(item)? + "\n");
        }
        let fresh = file.with_extension("json.new");
        let mut output = File::create(&fresh)?;
        output.write_all(text.as_bytes())?;
        output.sync_all()?;
        fs::rename(&fresh, file)?;
        file.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }

    /// Puts back the items that are `meant`, last first. What could not be put back stays noted.
    pub(super) fn put_back(
        &mut self,
        host: &Host,
        file: &Path,
        meant: impl Fn(&Item) -> bool,
    ) -> PutBack {
        let mut said = PutBack::default();
        let before = self.items.len();
        for index in (0..before).rev() {
            let Some(item) = self.items.get(index).filter(|item| meant(item)) else { continue };
            let (path, value) = (&item.path, &item.before);
            match item.put_back(host) {
                Ok(left) => {
                    let done = format!("{path} is {value} again");
                    left.map_or_else(|| said.done.push(done), |left| said.left.push(left));
                    self.items.remove(index);
                }
                Err(error) => {
                    said.left.push(format!("{path} was not put back to {value}: {error}"));
                }
            }
        }
        if self.items.len() != before
            && let Err(error) = self.save(file)
        {
            said.left.push(format!("{}: {error}", file.display()));
        }
        said
    }
}

/// What became of files that were to be put back, a sentence for each.
#[derive(Debug, Default)]
pub(super) struct PutBack {
    /// They are as they were.
    pub(super) done: Vec<String>,
    /// They are not, and why.
    pub(super) left: Vec<String>,
}

impl Item {
    fn of(host: &Host, path: &str, before: &str, value: &str) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            before: before.to_owned(),
            wrote: vec![value.to_owned()],
            then: tunables(host, path, before)?,
        })
    }

    /// Puts it back, if what is there is ours; says so if it is not.
    fn put_back(&self, host: &Host) -> io::Result<Option<String>> {
        let path = &self.path;
        let Some(now) = host.line(path)? else {
            return Ok(Some(format!("{path} is gone: nothing to put back")));
        };
        // A governor of devfreq is empty when the kernel could not switch.
        if now != self.before && !now.is_empty() && !self.wrote.contains(&now) {
            return Ok(Some(format!("{path} is left at {now}, which somebody else wrote")));
        }
        if now != self.before {
            host.write(path, &self.before)?;
            let found = host.line(path)?.unwrap_or_default();
            if found != self.before {
                return Err(io::Error::other(format!("it reads {found}")));
            }
        }
        let mut lost = Vec::new();
        for (path, value) in &self.then {
            let differs = host.line(path)?.is_some_and(|now| now != *value);
            if differs && host.write(path, value).is_err() {
                lost.push(path.as_str());
            }
        }
        Ok((!lost.is_empty()).then(|| format!("not put back: {}", lost.join(", "))))
    }
}

/// What is lost with the governor in `path`: its tunables, and what user space had set.
fn tunables(host: &Host, path: &str, governor: &str) -> io::Result<Vec<(String, String)>> {
    let Some((folder, name)) = path.rsplit_once('/') else { return Ok(Vec::new()) };
    let (own, user) = match name {
        "scaling_governor" => (true, ("scaling_setspeed", "scaling_setspeed")),
        "governor" => (false, ("target_freq", "userspace/set_freq")),
        _ => return Ok(Vec::new()),
    };
    let shared = folder.rsplit_once('/').map_or(folder, |(parent, _)| parent);
    let mut patterns = Vec::new();
    if own {
        patterns.push(format!("{folder}/{governor}/*"));
        patterns.push(format!("{shared}/{governor}/*"));
    }
    let known = host.read(&patterns.iter().map(String::as_str).collect::<Vec<_>>())?;
    let mut then: Vec<(String, String)> =
        known.iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
    if governor == "userspace"
        && let Some(value) = host.line(&format!("{folder}/{}", user.0))?
        && value.parse::<u64>().is_ok()
    {
        then.push((format!("{folder}/{}", user.1), value));
    }
    Ok(then)
}
