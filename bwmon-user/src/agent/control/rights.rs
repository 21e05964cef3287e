//! What a peer may ask for, by the credentials that the kernel knows of it (SO_PEERCRED, unix(7)).

use super::ControlPlan;
use super::socket::Listening;
use crate::config::Readers;
use crate::live::accounts;
use tokio::net::UnixStream;

/// What a peer may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rights {
    /// Everything. With what it is called in journals.
    Change(String),
    /// Look.
    Read(String),
    /// Nothing, and why.
    None(String),
}

impl Rights {
    /// Those of the peer of `stream`.
    pub(super) fn of(stream: &UnixStream, listening: &Listening) -> Self {
        match stream.peer_cred() {
            Ok(peer) => {
                judge(listening.plan(), listening.group(), peer.uid(), peer.gid(), peer.pid())
            }
            Err(error) => Self::None(format!("the kernel does not say who you are: {error}")),
        }
    }
}

fn judge(plan: &ControlPlan, group: Option<u32>, uid: u32, gid: u32, pid: Option<i32>) -> Rights {
    let name = match pid {
        Some(pid) => format!("pid {pid}, uid {uid}"),
        None => format!("uid {uid}"),
    };
    let own = rustix::process::geteuid().as_raw();
    // The agent's own user could trace it anyhow.
    let may_change = uid == 0
        || uid == own
        || group.is_some_and(|group| {
            gid == group
                || plan
                    .group
                    .as_deref()
                    .is_some_and(|name| accounts::is_member(&plan.root, uid, name))
        });
    match (may_change, plan.readers) {
        (true, _) => Rights::Change(name),
        (false, Readers::All) => Rights::Read(name),
        (false, Readers::Group) => Rights::None(refusal(plan)),
    }
}

/// Why a peer may not, and who may.
pub(super) fn refusal(plan: &ControlPlan) -> String {
    match &plan.group {
        Some(group) => format!("only root and the group {group} may do this"),
        None => "only root may do this".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Root;

    #[test]
    fn root_and_the_group_may_change_and_others_read_if_it_is_configured() {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir(tree.path().join("etc")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(tree.path().join(name), text).unwrap();
        write("etc/passwd", "ann:x:91000:91000::/:\nbob:x:91001:91001::/:\n");
        write("etc/group", "bwmon:x:90990:ann\n");
        let mut plan = ControlPlan {
            socket: "s".into(),
            group: Some("bwmon".into()),
            readers: Readers::Group,
            root: Root::at(tree.path()),
        };
        let of = |plan: &ControlPlan, uid, gid| judge(plan, Some(90_990), uid, gid, Some(7));
        assert!(matches!(of(&plan, 0, 0), Rights::Change(_)));
        // By the list of members, and as the primary group.
        assert_eq!(of(&plan, 91_000, 91_000), Rights::Change("pid 7, uid 91000".into()));
        assert!(matches!(of(&plan, 91_001, 90_990), Rights::Change(_)));
        assert_eq!(
            of(&plan, 91_001, 91_001),
            Rights::None("only root and the group bwmon may do this".into())
        );
        plan.readers = Readers::All;
        assert!(matches!(of(&plan, 91_001, 91_001), Rights::Read(_)));
        // The group is not there.
        assert!(matches!(judge(&plan, None, 91_000, 91_000, None), Rights::Read(_)));
    }
}
