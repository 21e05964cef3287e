//! Debian's systemd, booted in namespaces of its own.

use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest time for the machine's first process.
const PATIENCE: Duration = Duration::from_secs(10);

/// A machine that runs; it ends with this value.
pub(super) struct Machine {
    unshare: Child,
    cgroup: PathBuf,
    /// Its process 1, as it is called out here.
    init: u32,
}

/// What a trial said.
pub(super) struct Steps(Vec<String>);

impl Steps {
    /// Steps that held.
    pub(super) fn held(&self) -> usize {
        self.0.iter().filter(|line| line.starts_with("ok: ")).count()
    }
}

impl Machine {
    /// Boots `root`; what it says before it is up goes to `boot.log` in `dir`.
    ///
    /// # Errors
    /// When namespaces or a control group cannot be had.
    pub(super) fn boot(dir: &Path, root: &Path) -> Result<Machine> {
        // systemd takes its control group for the machine's root of them.
        let cgroup = cgroup2()?.join(format!("bwmon-trial-{}", std::process::id()));
        fs::create_dir_all(&cgroup).with_context(|| format!("make {}", cgroup.display()))?;
        let log = fs::File::create(dir.join("boot.log"))?;
        let unshare = Command::new("sh")
            .args(["-c", "echo $$ > \"$1/cgroup.procs\"; shift; exec \"$@\"", "sh"])
            .arg(&cgroup)
            .args(["unshare", "--pid", "--mount", "--uts", "--ipc", "--net", "--cgroup"])
            .args(["--fork", "--kill-child=SIGKILL", "sh"])
            .arg(root.join("trial/boot.sh"))
            .arg(root)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("cannot start unshare")?;
        let mut machine = Machine { unshare, cgroup, init: 0 };
        machine.init = machine
            .wait_for_init()
            .with_context(|| format!("see {}", dir.join("boot.log").display()))?;
        Ok(machine)
    }

    /// The machine is up when its first process is systemd.
    fn wait_for_init(&mut self) -> Result<u32> {
        let id = self.unshare.id();
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.unshare.try_wait()? {
                bail!("the trial's machine does not boot: {status}");
            }
            let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
            let first = children.unwrap_or_default();
            if let Some(init) = first.split_whitespace().next().and_then(|pid| pid.parse().ok()) {
                let name = fs::read_to_string(format!("/proc/{init}/comm")).unwrap_or_default();
                if name.trim() == "systemd" {
                    return Ok(init);
                }
            }
            if Instant::now() > deadline {
                bail!("the trial's machine does not boot within {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Runs the shell script `path` inside, and shows its lines as they come.
    ///
    /// # Errors
    /// With the step that failed.
    pub(super) fn run(&self, path: &str) -> Result<Steps> {
        let mut child = Command::new("nsenter")
            .args(["--target", &self.init.to_string(), "--mount", "--pid", "--uts", "--ipc"])
            .args(["--net", "--cgroup", "/bin/sh", path])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start nsenter")?;
        let mut lines = Vec::new();
        for line in BufReader::new(child.stdout.take().context("no output")?).lines() {
            let line = line?;
            eprintln!("trial: {line}");
            lines.push(line);
        }
        let status = child.wait()?;
        if !status.success() || lines.last().is_none_or(|line| line != "passed") {
            let failed = lines.iter().find(|line| line.starts_with("FAILED: "));
            bail!("{}", failed.map_or("it ended early", String::as_str));
        }
        Ok(Steps(lines))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.unshare.kill();
        let _ = self.unshare.wait();
        // Its processes have ended, its groups go, the innermost first.
        let _ = Command::new("find")
            .arg(&self.cgroup)
            .args(["-depth", "-type", "d", "-exec", "rmdir", "{}", ";"])
            .stderr(Stdio::null())
            .status();
    }
}

/// Where the second version of control groups is mounted.
fn cgroup2() -> Result<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").context("read /proc/mounts")?;
    let mount = mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (place, kind) = (words.next()?, words.next()?);
        (kind == "cgroup2").then(|| PathBuf::from(place))
    });
    mount.context("there is no cgroup2 file system, which systemd needs")
}
