//! A task: a definition that becomes task instances on nodes.

use crate::{Json, JsonMap, TaskId, words};

words! {
    /// The type of a task.
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
        /// Supported only in legacy data; never executed.
        Role => "role",
        MasterShell => "master_shell",
        MoveToBootstrap => "move_to_bootstrap",
        EraseNode => "erase_node",
        Ansible => "ansible",
        UploadFiles => "upload_files",
        CobblerSync => "cobbler_sync",
        Noop => "noop",
        File => "file",
        Directory => "directory",
        Link => "link",
        Line => "line",
        Command => "command",
        Package => "package",
        Service => "service",
        SystemdUnit => "systemd_unit",
        User => "user",
        UserGroup => "user_group",
        Sysctl => "sysctl",
        Repository => "repository",
        Mount => "mount",
        Archive => "archive",
        Git => "git",
        WaitFor => "wait_for",
    }
}

impl TaskType {
    /// Reports whether tasks of this type describe the desired state of a part of the host. Without a condition they run
    /// when their inputs changed, at every version.
    pub const fn has_desired_state(self) -> bool {
        matches!(
            self,
            Self::File
                | Self::Directory
                | Self::Link
                | Self::Line
                | Self::Command
                | Self::Package
                | Self::Service
                | Self::SystemdUnit
                | Self::User
                | Self::UserGroup
                | Self::Sysctl
                | Self::Repository
                | Self::Mount
                | Self::Archive
                | Self::Git
        )
    }
}

/// The type of `parameters.strategy`: how many nodes execute a task concurrently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategyType {
    Parallel,
    OneByOne,
}

impl StrategyType {
    /// All accepted names; `one-by-one` is an alternative spelling.
    pub const NAMES: &[&str] = &["parallel", "one_by_one", "one-by-one"];

    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "parallel" => Some(Self::Parallel),
            "one_by_one" | "one-by-one" => Some(Self::OneByOne),
            _ => None,
        }
    }
}

/// A task as written. Fields have their canonical names; `id` is [`Task::name`] and not a field.
///
/// A field that is not set is absent. A field with the value `false`, `[]` or `null` is present.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Task name, unique in the graph.
    pub name: String,
    pub fields: JsonMap,
}

impl Task {
    pub fn field(&self, canonical: &str) -> Option<&Json> {
        self.fields.get(canonical)
    }
}

/// A task with its row. Rows are immutable: a changed task gets a new row.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTask {
    pub id: TaskId,
    pub task: Task,
}

/// A field with a separate column in the store, and its alternative spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskField {
    pub canonical: &'static str,
    pub alias: Option<&'static str>,
}

const fn field(canonical: &'static str) -> TaskField {
    TaskField { canonical, alias: None }
}

const fn aliased(canonical: &'static str, alias: &'static str) -> TaskField {
    TaskField { canonical, alias: Some(alias) }
}

/// Fields with a column, in column order. All other fields are user-defined.
pub const TASK_FIELDS: &[TaskField] = &[
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

/// Returns the canonical name of a field, for either spelling.
pub fn canonical_field(name: &str) -> &str {
    TASK_FIELDS
        .iter()
        .find(|spelling| spelling.alias == Some(name))
        .map_or(name, |spelling| spelling.canonical)
}

/// Fields that place a task on nodes, by precedence inside one definition. They are one concept when layers are merged.
pub const PLACEMENT_FIELDS: [&str; 3] = ["tags", "roles", "groups"];

/// Returns the field that decides the placement of a definition. An empty `roles` falls through to `groups`; an empty
/// `tags` does not.
pub fn placement_field<'a>(value: impl Fn(&str) -> Option<&'a Json>) -> Option<&'static str> {
    let is_empty = |value: &Json| matches!(value, Json::Array(items) if items.is_empty()) || value == "";
    let decides = |field: &str| value(field).is_some_and(|value| field == "tags" || !is_empty(value));
    PLACEMENT_FIELDS.into_iter().find(|field| decides(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_resolve_to_canonical_names() {
        assert_eq!(canonical_field("role"), "roles");
        assert_eq!(canonical_field("cross-depends"), "cross_depends");
        assert_eq!(canonical_field("cross-depended-by"), "cross_depended_by");
        assert_eq!(canonical_field("anything"), "anything");
    }
}
