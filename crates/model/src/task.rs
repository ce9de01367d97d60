//! A task: a definition that becomes task instances on nodes.

use crate::{Json, JsonMap, TaskId, words};

words! {
    /// What an uploaded task may be.
    TaskType {
        Puppet => "puppet",
        Shell => "shell",
        Sync => "sync",
        UploadFile => "upload_file",
        Group => "group",
        Stage => "stage",
        Skipped => "skipped",
        Reboot => "reboot",
        CopyFiles => "copy_files",
        /// An alias kept for old data; nothing executes it.
        Role => "role",
        MasterShell => "master_shell",
        MoveToBootstrap => "move_to_bootstrap",
        EraseNode => "erase_node",
        Ansible => "ansible",
        UploadFiles => "upload_files",
        CobblerSync => "cobbler_sync",
        Noop => "noop",
    }
}

/// A task as it was written. Fields are under their canonical names, `id` is [`Task::name`] and no field.
///
/// A field that was not given is absent; one that was given as `false`, `[]` or `null` is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Unique in its graph.
    pub name: String,
    pub fields: JsonMap,
}

impl Task {
    pub fn field(&self, canonical: &str) -> Option<&Json> {
        self.fields.get(canonical)
    }
}

/// A task with its row. A row never changes: another content is another row.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTask {
    pub id: TaskId,
    pub task: Task,
}

/// A field that has a place of its own in the store, and how else users write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling {
    pub canonical: &'static str,
    pub alias: Option<&'static str>,
}

const fn field(canonical: &'static str) -> Spelling {
    Spelling { canonical, alias: None }
}

const fn aliased(canonical: &'static str, alias: &'static str) -> Spelling {
    Spelling { canonical, alias: Some(alias) }
}

/// Fields with a column, in the order of the columns. Every other field is the user's own.
pub const TASK_FIELDS: &[Spelling] = &[
    field("version"),
    field("test_pre"),
    field("test_post"),
    field("type"),
    field("groups"),
    field("tasks"),
    aliased("roles", "role"),
    field("reexecute_on"),
    field("refresh_on"),
    field("required_for"),
    field("requires"),
    aliased("cross_depended_by", "cross-depended-by"),
    aliased("cross_depends", "cross-depends"),
    field("parameters"),
    field("condition"),
];

/// The name under which a field is kept, whichever way it was spelt.
pub fn canonical_field(name: &str) -> &str {
    TASK_FIELDS
        .iter()
        .find(|spelling| spelling.alias == Some(name))
        .map_or(name, |spelling| spelling.canonical)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alias_leads_to_one_field() {
        assert_eq!(canonical_field("role"), "roles");
        assert_eq!(canonical_field("cross-depends"), "cross_depends");
        assert_eq!(canonical_field("cross-depended-by"), "cross_depended_by");
        assert_eq!(canonical_field("anything"), "anything");
    }
}
