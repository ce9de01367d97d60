//! Accounts of a host: `/etc/passwd`, `/etc/group` and `/etc/shadow`.

use std::path::Path;

use crate::host::Host;
use crate::outcome::Failure;

/// Entries of the account files. Directory services are not consulted: they are not changed either.
#[derive(Debug)]
pub(super) struct Accounts {
    passwd: String,
    group: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct UserEntry<'t> {
    pub(super) name: &'t str,
    pub(super) uid: &'t str,
    pub(super) gid: &'t str,
    pub(super) comment: &'t str,
    pub(super) home: &'t str,
    pub(super) shell: &'t str,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct GroupEntry<'t> {
    pub(super) name: &'t str,
    pub(super) gid: &'t str,
    pub(super) members: Vec<&'t str>,
}

impl Accounts {
    pub(super) async fn read(host: &dyn Host) -> Result<Self, Failure> {
        Ok(Self { passwd: read(host, "/etc/passwd").await?, group: read(host, "/etc/group").await? })
    }

    pub(super) fn user(&self, name: &str) -> Option<UserEntry<'_>> {
        self.passwd.lines().filter_map(user).find(|user| user.name == name)
    }

    pub(super) fn group(&self, name: &str) -> Option<GroupEntry<'_>> {
        self.groups().find(|group| group.name == name)
    }

    /// Returns the name of a group, or its number if it has no name.
    pub(super) fn group_name<'t>(&'t self, gid: &'t str) -> &'t str {
        self.groups().find(|group| group.gid == gid).map_or(gid, |group| group.name)
    }

    /// Returns the sorted names of the groups that list a user as member.
    pub(super) fn groups_of(&self, user: &str) -> Vec<String> {
        let groups = self.groups().filter(|group| group.members.contains(&user));
        let mut names: Vec<String> = groups.map(|group| group.name.to_owned()).collect();
        names.sort();
        names
    }

    fn groups(&self) -> impl Iterator<Item = GroupEntry<'_>> {
        self.group.lines().filter_map(group)
    }
}

/// Password and expiry of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShadowEntry {
    pub(super) hash: String,
    /// Day on which the account expires, counted from 1970-01-01; empty if it does not.
    pub(super) expires: String,
}

impl ShadowEntry {
    /// Returns an empty entry for an unknown user.
    pub(super) async fn read(host: &dyn Host, name: &str) -> Result<Self, Failure> {
        let shadow = read(host, "/etc/shadow").await?;
        let mut entries = shadow.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let fields = entries.find(|fields| fields.first() == Some(&name)).unwrap_or_default();
        let field = |idx: usize| fields.get(idx).copied().unwrap_or_default().to_owned();
        Ok(Self { hash: field(1), expires: field(7) })
    }

    /// Whether no password is accepted.
    pub(super) fn is_locked(&self) -> bool {
        self.hash.starts_with('!')
    }
}

/// Reports whether a text can be a field of the account files.
pub(super) fn is_account_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 32
        && name.trim_end_matches('$').chars().all(is_plain)
}

async fn read(host: &dyn Host, path: &str) -> Result<String, Failure> {
    let path = Path::new(path);
    // A missing file has no entries, as in a new image.
    if host.inspect(path).await?.is_none() {
        return Ok(String::new());
    }
    Ok(String::from_utf8_lossy(&host.read(path).await?).into_owned())
}

fn user(line: &str) -> Option<UserEntry<'_>> {
    let fields: Vec<&str> = line.split(':').collect();
    let &[name, _, uid, gid, comment, home, shell] = fields.as_slice() else { return None };
    Some(UserEntry { name, uid, gid, comment, home, shell })
}

fn group(line: &str) -> Option<GroupEntry<'_>> {
    let fields: Vec<&str> = line.split(':').collect();
    let &[name, _, gid, members] = fields.as_slice() else { return None };
    Some(GroupEntry { name, gid, members: members.split(',').filter(|member| !member.is_empty()).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_files_are_read() {
        let accounts = Accounts {
            passwd: "root:x:0:0:root:/root:/bin/bash\nbroken\nada:x:1000:1000:Ada L.:/srv/ada:/bin/sh\n"
                .to_owned(),
            group: "root:x:0:\nadm:x:4:ada,bob\nada:x:1000:\n".to_owned(),
        };
        let ada = accounts.user("ada").unwrap();
        assert_eq!((ada.uid, ada.comment, ada.shell), ("1000", "Ada L.", "/bin/sh"));
        assert_eq!(accounts.user("broken"), None);
        assert_eq!(accounts.group_name(ada.gid), "ada");
        assert_eq!(accounts.group_name("77"), "77");
        assert_eq!(accounts.groups_of("ada"), ["adm"]);
        assert_eq!(accounts.group("adm").unwrap().members, ["ada", "bob"]);
        for (name, is_valid) in
            [("ada", true), ("_apt", true), ("a b", false), ("-x", false), ("", false), ("host$", true)]
        {
            assert_eq!(is_account_name(name), is_valid, "{name}");
        }
    }
}
