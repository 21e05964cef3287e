//! The socket itself: who may reach it, and that it is ours.

use super::ControlPlan;
use crate::config::Readers;
use crate::live::accounts;
use anyhow::{Context, bail};
use rustix::fs::{Mode, chown};
use rustix::process::{Gid, umask};
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream as Blocking;
use std::path::Path;
use tokio::net::{UnixListener, UnixStream};

/// A path that fits into a socket's address (unix(7): 108 bytes with the end).
const LONGEST: usize = 107;

/// A socket that listens; its file goes when this does.
#[derive(Debug)]
pub(in crate::agent) struct Listening {
    listener: UnixListener,
    plan: ControlPlan,
    group: Option<u32>,
    file: Option<(u64, u64)>,
}

impl Listening {
    /// Listens where `plan` says. Clients wait until they are served. `say` gets what the operator
    /// should know.
    ///
    /// # Errors
    /// When the socket cannot be had: something else is there, or somebody else listens.
    pub(in crate::agent) fn bind(plan: ControlPlan, say: &dyn Fn(&str)) -> anyhow::Result<Self> {
        let path = &plan.socket;
        let shown = path.display();
        if path.as_os_str().len() > LONGEST {
            bail!(
                "the control socket {shown} has a name longer than {LONGEST} bytes; choose a shorter one"
            );
        }
        clear(path)?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder of the control socket {shown}"))?;
        }
        let group = plan.group.as_deref().and_then(|name| accounts::group_id(&plan.root, name));
        if let (Some(name), None) = (&plan.group, group)
            && name != super::GROUP
        {
            bail!(
                "there is no group {name}, which is to control the agent; make it, or name another"
            );
        }
        // Nobody may connect before owner and mode are right.
        let before = umask(Mode::from_raw_mode(0o177));
        let bound = UnixListener::bind(path);
        umask(before);
        let listener = bound.with_context(|| format!("cannot listen at {shown}"))?;
        let file = fs::symlink_metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
        let listening = Self { listener, plan, group, file };
        listening.open(say)?;
        Ok(listening)
    }

    fn open(&self, say: &dyn Fn(&str)) -> anyhow::Result<()> {
        let path = &self.plan.socket;
        let shown = path.display();
        let mut owned = self.group.is_some();
        if let Some(group) = self.group
            && let Err(error) = chown(path, None, Some(Gid::from_raw(group)))
        {
            say(&format!(
                "the control socket {shown} stays root's: cannot give it to the group: {error}"
            ));
            owned = false;
        }
        let mode = match (self.plan.readers, owned) {
            (Readers::All, _) => 0o666,
            (Readers::Group, true) => 0o660,
            (Readers::Group, false) => 0o600,
        };
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
            .with_context(|| format!("cannot set the mode of {shown}"))
    }

    pub(super) async fn accept(&self) -> io::Result<(UnixStream, tokio::net::unix::SocketAddr)> {
        self.listener.accept().await
    }

    pub(super) fn plan(&self) -> &ControlPlan {
        &self.plan
    }

    pub(super) fn group(&self) -> Option<u32> {
        self.group
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let path = &self.plan.socket;
        let now = fs::symlink_metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
        // Not one that somebody has put in its place.
        if now.is_some() && now == self.file {
            let _ = fs::remove_file(path);
        }
    }
}

/// A socket that nobody listens to any more goes; anything else stays.
fn clear(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).context(format!("cannot look at {shown}")),
    };
    if !meta.file_type().is_socket() {
        bail!(
            "{shown}, which is to be the control socket, is there and is no socket; name another path or remove it"
        );
    }
    match Blocking::connect(path) {
        Ok(_) => bail!(
            "somebody listens at the control socket {shown} already; stop it first, or name another path"
        ),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).with_context(|| format!("cannot remove the old socket {shown}"))
        }
        Err(error) => Err(error).context(format!("cannot tell whether {shown} is in use")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Root;
    use std::sync::Mutex;

    /// The mask of new files belongs to the process.
    static ONE: Mutex<()> = Mutex::new(());

    fn bind(path: &Path, group: Option<&str>) -> anyhow::Result<Listening> {
        let _one = ONE.lock();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _inside = runtime.enter();
        let plan = ControlPlan {
            socket: path.to_owned(),
            group: group.map(str::to_owned),
            readers: Readers::Group,
            root: Root::default(),
        };
        Listening::bind(plan, &|_| {})
    }

    #[test]
    fn a_socket_is_nobodys_elses_and_goes_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/s");
        let first = bind(&path, None).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let second = bind(&path, None).unwrap_err().to_string();
        assert!(second.contains("somebody listens"), "{second}");
        drop(first);
        assert!(!path.exists());
    }

    #[test]
    fn a_socket_that_was_left_behind_is_replaced_and_a_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        drop(bind(&path, None).unwrap());
        fs::write(&path, "precious").unwrap();
        let error = bind(&path, None).unwrap_err().to_string();
        assert!(error.contains("is no socket"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    }

    #[test]
    fn names_that_cannot_be_are_said() {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("x".repeat(108));
        assert!(bind(&long, None).unwrap_err().to_string().contains("longer than 107 bytes"));
        let path = folder.path().join("s");
        let error = bind(&path, Some("no-such-group")).unwrap_err().to_string();
        assert!(error.contains("there is no group no-such-group"), "{error}");
        assert!(!path.exists());
    }
}
