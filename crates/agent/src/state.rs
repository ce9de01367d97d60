//! The folder of an agent: its lock, its name and credential, its journal, a place for private files.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use stoker_model::Json;

/// One agent has it at a time.
#[derive(Debug)]
pub struct StateFolder {
    path: PathBuf,
    _lock: Flock<File>,
}

/// What a server gave this agent.
#[derive(Clone, PartialEq, Eq)]
pub struct Membership {
    pub server: String,
    pub node_uid: String,
    pub credential: String,
    /// The fingerprint of the one authority it trusts, if it joined with one.
    pub ca_fingerprint: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error("another agent uses `{}`; each needs a folder of its own (`--state`)", path.display())]
    InUse { path: PathBuf },
    #[error("cannot {what} `{}`", path.display())]
    File { what: &'static str, path: PathBuf, source: io::Error },
    #[error("`{}` makes no sense; remove it and join again", path.display())]
    Nonsense { path: PathBuf },
}

impl StateFolder {
    /// Makes the folder where it is missing and locks it. Private files that a crash left there are removed.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let wrong = |what: &'static str, path: &Path| {
            let path = path.to_owned();
            move |source| StateError::File { what, path, source }
        };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(wrong("create", path))?;
        // Processes are found again by the name of the folder, however it is spelled next time.
        let path = &fs::canonicalize(path).map_err(wrong("find", path))?;
        let lock_path = path.join("lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&lock_path);
        let file = file.map_err(wrong("open", &lock_path))?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| match error {
            nix::Error::EWOULDBLOCK => StateError::InUse { path: path.to_owned() },
            error => wrong("lock", &lock_path)(error.into()),
        })?;
        let folder = Self { path: path.to_owned(), _lock: lock };
        let scratch = folder.scratch();
        match fs::remove_dir_all(&scratch) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(wrong("empty", &scratch)(error));
            }
            _ => {}
        }
        fs::DirBuilder::new().mode(0o700).create(&scratch).map_err(wrong("create", &scratch))?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn journal(&self) -> PathBuf {
        self.path.join("journal")
    }

    /// For files that only the agent and what it starts may see.
    pub fn scratch(&self) -> PathBuf {
        self.path.join("scratch")
    }

    /// Certificate and key, where the server has given one.
    pub fn certificate_path(&self) -> PathBuf {
        self.path.join("certificate.pem")
    }

    fn membership_path(&self) -> PathBuf {
        self.path.join("membership.json")
    }

    /// What an earlier start got.
    pub fn membership(&self) -> Result<Option<Membership>, StateError> {
        let path = self.membership_path();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StateError::File { what: "read", path, source }),
        };
        let json: Json = serde_json::from_str(&text).unwrap_or_default();
        let field = |name: &str| json.get(name).and_then(Json::as_str).map(str::to_owned);
        let read = || {
            let (server, node_uid) = (field("server")?, field("node_uid")?);
            let ca_fingerprint = field("ca_fingerprint");
            Some(Membership { server, node_uid, credential: field("credential")?, ca_fingerprint })
        };
        read().map(Some).ok_or(StateError::Nonsense { path })
    }

    /// Readable for the user of the agent and nobody else.
    pub fn keep_membership(&self, membership: &Membership) -> Result<(), StateError> {
        let path = self.membership_path();
        let beside = self.path.join("membership.new");
        let Membership { server, node_uid, credential, ca_fingerprint } = membership;
        let mut json = serde_json::json!({"server": server, "node_uid": node_uid, "credential": credential});
        if let Some(fingerprint) = ca_fingerprint {
            json["ca_fingerprint"] = fingerprint.as_str().into();
        }
        let write = || {
            let mut file =
                OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
            file.set_permissions(Permissions::from_mode(0o600))?;
            file.write_all(json.to_string().as_bytes())?;
            file.sync_all()?;
            fs::rename(&beside, &path)?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|source| StateError::File { what: "write", path: path.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use stoker_testkit::Folder;

    use super::*;

    #[test]
    fn two_agents_cannot_share_a_folder() {
        let folder = Folder::new();
        let path = folder.file("a/b");
        let first = StateFolder::open(&path).unwrap();
        fs::write(first.scratch().join("left"), "behind").unwrap();
        assert!(matches!(StateFolder::open(&path), Err(StateError::InUse { .. })));
        drop(first);
        let second = StateFolder::open(&path).unwrap();
        assert!(!second.scratch().join("left").exists());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_membership_is_kept_where_only_the_agent_can_read_it() {
        let folder = Folder::new();
        let state = StateFolder::open(folder.path()).unwrap();
        assert!(state.membership().unwrap().is_none());
        for ca_fingerprint in [None, Some("sha256:00".to_owned())] {
            let (server, node_uid, credential) = ("http://a".into(), "5".into(), "secret".into());
            let membership = Membership { server, node_uid, credential, ca_fingerprint };
            state.keep_membership(&membership).unwrap();
            assert!(state.membership().unwrap() == Some(membership));
        }
        let path = state.membership_path();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&path, "{}").unwrap();
        assert!(matches!(state.membership(), Err(StateError::Nonsense { .. })));
    }
}
