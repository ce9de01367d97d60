//! Identity of the journal. The server compares it when an agent joins for a node that had an agent before: the same
//! journal is the same machine.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use serde_json::json;
use stoker_model::{AgentUid, Json};
use stoker_wire::join::JournalIdentity;

use crate::state::{StateError, StateFolder};

impl StateFolder {
    fn journal_identity_path(&self) -> PathBuf {
        self.path().join("journal.json")
    }

    /// Reads the identity of the journal. Without a journal, creates an empty one with a new identity.
    pub fn journal_identity(&self) -> Result<JournalIdentity, StateError> {
        let has_journal = self.journal_path().exists();
        if has_journal && let Some(identity) = self.stored_identity()? {
            return Ok(identity);
        }
        let id = format!("{:016x}{:016x}", getrandom::u64()?, getrandom::u64()?);
        // Earlier versions of the agent stored no identity with their journal.
        let membership = if has_journal { self.membership().ok().flatten() } else { None };
        let identity = JournalIdentity { id, node_uid: membership.map(|membership| membership.node_uid) };
        // In this order: after a crash in between, the journal is missing and gets a new identity.
        self.store_identity(&identity)?;
        self.create_journal()?;
        Ok(identity)
    }

    /// Records the node that the agent serves in the identity of the journal.
    pub fn assign_journal(&self, node: &AgentUid) -> Result<JournalIdentity, StateError> {
        let mut identity = self.journal_identity()?;
        if identity.node_uid.as_ref() != Some(node) {
            identity.node_uid = Some(node.clone());
            self.store_identity(&identity)?;
        }
        Ok(identity)
    }

    /// Returns `None` if the file is missing or malformed: then the journal counts as a new one.
    fn stored_identity(&self) -> Result<Option<JournalIdentity>, StateError> {
        let path = self.journal_identity_path();
        match fs::read_to_string(&path) {
            Ok(text) => {
                Ok(serde_json::from_str(&text).ok().filter(|stored: &JournalIdentity| !stored.id.is_empty()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StateError::File { operation: "read", path, source }),
        }
    }

    fn store_identity(&self, identity: &JournalIdentity) -> Result<(), StateError> {
        let JournalIdentity { id, node_uid } = identity;
        let content: Json = json!({"id": id, "node_uid": node_uid});
        self.replace_file(&self.journal_identity_path(), &content)
    }

    fn create_journal(&self) -> Result<(), StateError> {
        let path = self.journal_path();
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let created = options.open(&path).and_then(|_| File::open(self.path())?.sync_all());
        created.map_err(|source| StateError::File { operation: "create", path, source })
    }
}

#[cfg(test)]
mod tests {
    use stoker_testkit::TempFolder;

    use super::*;
    use crate::state::Membership;

    fn reopen(folder: &TempFolder) -> StateFolder {
        StateFolder::open(folder.path()).unwrap()
    }

    #[test]
    fn identity_belongs_to_the_journal() {
        let folder = TempFolder::new();
        let first = reopen(&folder).journal_identity().unwrap();
        assert_eq!((first.id.len(), &first.node_uid), (32, &None));
        assert_eq!(reopen(&folder).journal_identity().unwrap(), first, "kept across restarts");
        let state = reopen(&folder);
        let assigned = state.assign_journal(&"5".into()).unwrap();
        assert_eq!(assigned, JournalIdentity { node_uid: Some("5".into()), ..first.clone() });
        fs::remove_file(state.journal_path()).unwrap();
        let other = state.journal_identity().unwrap();
        assert!(other.id != first.id && other.node_uid.is_none(), "{other:?}");
    }

    #[test]
    fn journal_of_an_earlier_version_belongs_to_the_node_of_its_membership() {
        let folder = TempFolder::new();
        let state = reopen(&folder);
        let (server, node_uid, credential) = ("http://a".into(), "5".into(), "secret".into());
        let membership = Membership { server, node_uid, credential, ca_fingerprint: None };
        state.store_membership(&membership).unwrap();
        fs::write(state.journal_path(), "").unwrap();
        assert_eq!(state.journal_identity().unwrap().node_uid, Some("5".into()));
    }

    #[test]
    fn malformed_identity_is_replaced() {
        let folder = TempFolder::new();
        let state = reopen(&folder);
        let first = state.assign_journal(&"5".into()).unwrap();
        for text in ["", "{}", "[1]", "{\"id\": \"\"}", "{\"id\": 5}"] {
            fs::write(state.journal_identity_path(), text).unwrap();
            let other = state.journal_identity().unwrap();
            assert!(other.id != first.id && other.id.len() == 32, "{text}: {other:?}");
        }
    }
}
