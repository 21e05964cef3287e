//! Putting back what an experiment that was killed had changed.

use super::agent;
use super::host::{Call, Host, outputs};
use super::note::{self, Note};
use super::process::Ending;
use super::settings::Site;
use super::stop::Stop;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Puts back what the experiment with its results in `folder` had changed on `site`, if it could not
/// do so itself: ends its agent, and writes into files what was in them before where they still hold
/// what it wrote. Says what was done and what could not be; says nothing if there was nothing to do.
pub fn put_back(folder: &Path, site: &Site) -> Vec<String> {
    let file = note::file(folder);
    let failed = |error: std::io::Error| vec![format!("{}: {error}", file.display())];
    let mut note = match Note::load(&file) {
        Ok(None) => return Vec::new(),
        Ok(Some(note)) => note,
        Err(error) => return failed(error),
    };
    let mut host = match site.host() {
        Ok(host) => host,
        Err(error) => return failed(error),
    };
    if let Err(error) = host.read(&[]) {
        return vec![format!("nothing was put back: {error}")];
    }
    if note.is_of_another_boot(&Note::new(&host)) {
        let old = file.with_extension("json.old");
        return match fs::rename(&file, &old) {
            Ok(()) => vec![format!(
                "the machine was started anew since the experiment was killed: nothing is left to \
                 put back (the note is kept as {})",
                old.display()
            )],
            Err(error) => failed(error),
        };
    }
    let mut said = Vec::new();
    if let Some(journal) = note.agent.take() {
        said.extend(agent::end_orphan(&host, &journal));
        said.extend(restore(&mut host, site, folder));
    }
    let files = note.put_back(&host, &file, |_| true);
    said.extend(files.done.into_iter().chain(files.left));
    if let Err(error) = note.save(&file) {
        said.extend(failed(error));
    }
    said
}

/// How lines begin that say that `bwmon restore` failed.
pub(super) const FAILED: &str = "bwmon restore: ";

/// What `bwmon restore` there puts back: an agent that was killed may have left something.
pub(super) fn restore(host: &mut Host, site: &Site, folder: &Path) -> Vec<String> {
    let output = folder.join("restore");
    let call = Call {
        argv: &site.command("restore"),
        cwd: Path::new("/"),
        output: &output,
        timeout: Duration::from_secs(30),
    };
    let ended = host.run(&call, &Stop::default());
    let [out, err] = outputs(&output);
    let said = fs::read_to_string(&out).unwrap_or_default();
    let lines = match ended {
        Err(error) => vec![format!("{FAILED}{error}")],
        Ok(ran) if ran.ending != Ending::Code(0) => {
            vec![format!("{FAILED}{}", agent::said(&err))]
        }
        Ok(_) => {
            let told = said.lines().filter(|line| *line != "nothing to put back");
            told.map(str::to_owned).collect()
        }
    };
    let _ = (fs::remove_file(out), fs::remove_file(err));
    lines
}
