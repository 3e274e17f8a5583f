//! The image's /etc/passwd and /etc/group.

use crate::config::User;

/// Returns the ids of the groups that list the user by name, and the user's own group.
pub fn supplementary_groups(passwd: &str, group: &str, user: User) -> Vec<u32> {
    let mut groups = vec![user.gid];
    if let Some(name) = entry(passwd, user.uid).and_then(|fields| fields.into_iter().next()) {
        for line in group.lines() {
            // name:password:gid:member,member
            let fields: Vec<&str> = line.split(':').collect();
            let [_, _, id, members] = fields[..] else { continue };
            if members.split(',').any(|member| member.trim() == name) {
                groups.extend(id.parse::<u32>().ok());
            }
        }
    }
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// Returns the user with this name.
pub fn user(passwd: &str, name: &str) -> Option<User> {
    let lines = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let fields = lines.into_iter().find(|fields| fields.first() == Some(&name))?;
    Some(User { uid: fields.get(2)?.parse().ok()?, gid: fields.get(3)?.parse().ok()? })
}

/// Returns the home directory of a user.
pub fn home(passwd: &str, uid: u32) -> Option<String> {
    entry(passwd, uid)?.get(5).map(|home| home.to_string()).filter(|home| !home.is_empty())
}

/// The fields of a user: name, password, uid, gid, comment, home, shell.
fn entry(passwd: &str, uid: u32) -> Option<Vec<&str>> {
    passwd
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields.get(2).is_some_and(|id| id.parse() == Ok(uid)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str =
        "root:x:0:0:root:/root:/bin/sh\npostgres:x:999:999:,,,:/var/lib/postgresql:/bin/bash\nno:x:9:9::\n";
    const GROUP: &str = "root:x:0:\nssl-cert:x:101:postgres\nmany:x:102:root,postgres\npost:x:103:postgresql\npostgres:x:999:\n";

    #[test]
    fn groups_list_members_by_whole_names() {
        assert_eq!(supplementary_groups(PASSWD, GROUP, User { uid: 999, gid: 999 }), [101, 102, 999]);
        assert_eq!(supplementary_groups(PASSWD, GROUP, User { uid: 5, gid: 7 }), [7]);
    }

    #[test]
    fn users_are_found_by_their_whole_names() {
        assert_eq!(user(PASSWD, "postgres"), Some(User { uid: 999, gid: 999 }));
        assert_eq!(user(PASSWD, "post"), None);
        assert_eq!(user("broken:x:\n", "broken"), None);
    }

    #[test]
    fn a_home_may_be_missing() {
        assert_eq!(home(PASSWD, 999), Some("/var/lib/postgresql".into()));
        assert_eq!(home(PASSWD, 9), None);
        assert_eq!(home(PASSWD, 1), None);
    }
}
