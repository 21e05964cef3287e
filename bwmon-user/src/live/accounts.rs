//! Users and groups, from /etc/passwd and /etc/group: a static binary has no other name service, and
//! boards have no other.

use super::root::Root;
use std::fs;

/// The number of the group `name`; `None` where there is none.
pub fn group_id(root: &Root, name: &str) -> Option<u32> {
    let groups = fs::read_to_string(root.path("/etc/group")).ok()?;
    field_of(&groups, 0, name, 2)?.parse().ok()
}

/// Whether the group `name` lists the user number `uid` as a member.
pub fn is_member(root: &Root, uid: u32, name: &str) -> bool {
    let read = |path: &str| fs::read_to_string(root.path(path)).unwrap_or_default();
    let (users, groups) = (read("/etc/passwd"), read("/etc/group"));
    let Some(user) = field_of(&users, 2, &uid.to_string(), 0) else { return false };
    field_of(&groups, 0, name, 3)
        .is_some_and(|members| members.split(',').any(|member| member == user))
}

/// Field `wanted` of the line whose field `key` is `value`.
fn field_of<'a>(text: &'a str, key: usize, value: &str, wanted: usize) -> Option<&'a str> {
    let line = text.lines().find(|line| line.split(':').nth(key) == Some(value))?;
    line.split(':').nth(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_those_that_the_group_lists() {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir(tree.path().join("etc")).unwrap();
        let write = |name: &str, text: &str| fs::write(tree.path().join(name), text).unwrap();
        write("etc/passwd", "root:x:0:0::/:\nann:x:1000:1000::/:\nbob:x:1001:1001::/:\n");
        write("etc/group", "root:x:0:\nbwmon:x:990:ann,carl\nempty:x:991:\n");
        let root = Root::at(tree.path());
        assert_eq!(group_id(&root, "bwmon"), Some(990));
        assert_eq!(group_id(&root, "bwmo"), None);
        assert!(is_member(&root, 1000, "bwmon"));
        assert!(!is_member(&root, 1001, "bwmon"));
        assert!(!is_member(&root, 1002, "bwmon"));
        assert!(!is_member(&root, 1000, "empty"));
    }
}
