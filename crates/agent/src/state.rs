//! State directory of an agent: lock, membership (node UID and credential), journal and its identity, scratch space.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use stoker_model::{AgentUid, Json};

/// Locked state directory; at most one agent holds it.
#[derive(Debug)]
pub struct StateFolder {
    path: PathBuf,
    _lock: Flock<File>,
}

/// Result of joining a server, persisted.
#[derive(Clone, PartialEq, Eq)]
pub struct Membership {
    pub server: String,
    pub node_uid: AgentUid,
    pub credential: String,
    /// Fingerprint of the pinned certificate authority, if the agent joined with one.
    pub ca_fingerprint: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error("`{}` is in use by another agent; use a different directory with `--state`", path.display())]
    InUse { path: PathBuf },
    #[error("cannot {operation} `{}`", path.display())]
    File { operation: &'static str, path: PathBuf, source: io::Error },
    #[error("`{}` is malformed; remove it and join again", path.display())]
    Malformed { path: PathBuf },
    #[error("cannot create an id for the journal")]
    Random(#[from] getrandom::Error),
}

impl StateFolder {
    /// Creates the directory if necessary and locks it. Scratch files left by a crash are removed.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let file_error = |operation: &'static str, path: &Path| {
            let path = path.to_owned();
            move |source| StateError::File { operation, path, source }
        };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(file_error("create", path))?;
        // Processes of attempts are identified by this path, so it must not depend on how it was written.
        let path = &fs::canonicalize(path).map_err(file_error("resolve", path))?;
        let lock_path = path.join("lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&lock_path);
        let file = file.map_err(file_error("open", &lock_path))?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| match error {
            nix::Error::EWOULDBLOCK => StateError::InUse { path: path.to_owned() },
            error => file_error("lock", &lock_path)(error.into()),
        })?;
        let folder = Self { path: path.to_owned(), _lock: lock };
        let scratch = folder.scratch_path();
        match fs::remove_dir_all(&scratch) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(file_error("empty", &scratch)(error));
            }
            _ => {}
        }
        fs::DirBuilder::new().mode(0o700).create(&scratch).map_err(file_error("create", &scratch))?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn journal_path(&self) -> PathBuf {
        self.path.join("journal")
    }

    /// Returns the directory for temporary files, readable only by the agent's user.
    pub fn scratch_path(&self) -> PathBuf {
        self.path.join("scratch")
    }

    /// Returns the file with the client certificate and its key, if the server issued one.
    pub fn certificate_path(&self) -> PathBuf {
        self.path.join("certificate.pem")
    }

    fn membership_path(&self) -> PathBuf {
        self.path.join("membership.json")
    }

    /// Reads the persisted membership.
    pub fn membership(&self) -> Result<Option<Membership>, StateError> {
        let path = self.membership_path();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StateError::File { operation: "read", path, source }),
        };
        let json: Json = serde_json::from_str(&text).unwrap_or_default();
        let field = |name: &str| json.get(name).and_then(Json::as_str).map(str::to_owned);
        let read = || {
            let (server, node_uid) = (field("server")?, field("node_uid")?.into());
            let ca_fingerprint = field("ca_fingerprint");
            Some(Membership { server, node_uid, credential: field("credential")?, ca_fingerprint })
        };
        read().map(Some).ok_or(StateError::Malformed { path })
    }

    /// Persists the membership atomically, with mode 0600.
    pub fn store_membership(&self, membership: &Membership) -> Result<(), StateError> {
        let Membership { server, node_uid, credential, ca_fingerprint } = membership;
        let mut json = serde_json::json!({"server": server, "node_uid": node_uid, "credential": credential});
        if let Some(fingerprint) = ca_fingerprint {
            json["ca_fingerprint"] = fingerprint.as_str().into();
        }
        self.replace_file(&self.membership_path(), &json)
    }

    /// Writes a file atomically and durably, with mode 0600.
    pub(crate) fn replace_file(&self, path: &Path, content: &Json) -> Result<(), StateError> {
        let temporary = path.with_extension("new");
        let write = || {
            let mut file =
                OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
            file.set_permissions(Permissions::from_mode(0o600))?;
            file.write_all(content.to_string().as_bytes())?;
            file.sync_all()?;
            fs::rename(&temporary, path)?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|source| StateError::File { operation: "write", path: path.to_owned(), source })
    }
}

#[cfg(test)]
mod tests {
    use stoker_testkit::TempFolder;

    use super::*;

    #[test]
    fn folder_is_locked_by_one_agent() {
        let folder = TempFolder::new();
        let path = folder.file("a/b");
        let first = StateFolder::open(&path).unwrap();
        fs::write(first.scratch_path().join("left"), "behind").unwrap();
        assert!(matches!(StateFolder::open(&path), Err(StateError::InUse { .. })));
        drop(first);
        let second = StateFolder::open(&path).unwrap();
        assert!(!second.scratch_path().join("left").exists());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn membership_file_is_private() {
        let folder = TempFolder::new();
        let state = StateFolder::open(folder.path()).unwrap();
        assert!(state.membership().unwrap().is_none());
        for ca_fingerprint in [None, Some("sha256:00".to_owned())] {
            let (server, node_uid, credential) = ("http://a".into(), "5".into(), "secret".into());
            let membership = Membership { server, node_uid, credential, ca_fingerprint };
            state.store_membership(&membership).unwrap();
            assert!(state.membership().unwrap() == Some(membership));
        }
        let path = state.membership_path();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&path, "{}").unwrap();
        assert!(matches!(state.membership(), Err(StateError::Malformed { .. })));
    }
}
