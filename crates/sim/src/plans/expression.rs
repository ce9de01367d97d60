//! Expressions of random graphs: printed for the planner, and evaluated by the oracle without YAQL.

use std::fmt;

/// A value that conditions and parameters read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// A setting: section, name, and keys below its value. Only settings of the section `extra` may be absent.
    Setting(&'static [&'static str]),
    /// The labels of the node.
    Labels,
    /// One label of the node; absent on some nodes.
    Label(&'static str),
    /// The network scheme of the node; absent until its agent reports one.
    NetworkScheme,
    /// The status of the node.
    Status,
    ClusterStatus,
    /// The records of all nodes.
    Nodes,
    /// The records of nodes with a role.
    NodesOf(&'static str),
    NodeUids,
    NodeStatuses,
}

impl Path {
    /// Whether the value is one of the node itself. The master has none of these.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self, Self::Labels | Self::Label(_) | Self::NetworkScheme | Self::Status)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(keys) => write!(f, "$.{}", keys.join(".")),
            Self::Labels => f.write_str("$.labels"),
            Self::Label(name) => write!(f, "$.labels.{name}"),
            Self::NetworkScheme => f.write_str("$.network_scheme"),
            Self::Status => f.write_str("$.status"),
            Self::ClusterStatus => f.write_str("$.cluster.status"),
            Self::Nodes => f.write_str("$.nodes"),
            Self::NodesOf(role) => write!(f, "$.nodes.where($.role = '{role}')"),
            Self::NodeUids => f.write_str("$.nodes.uid"),
            Self::NodeStatuses => f.write_str("$.nodes.status"),
        }
    }
}

/// A condition from a closed grammar, in which only `changed` and its kin read absent paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Changed(Path),
    ChangedAny(Vec<Path>),
    ChangedAll(Vec<Path>),
    /// `moved('SECTION')`: a helper with `changed($.get($key))`.
    Moved(&'static str),
    /// Elements were deleted from the list at a path.
    Deleted(Path),
    /// The old value at a path is this text.
    OldIs(Path, &'static str),
    InputsChanged,
    /// The switch `$.shop.debug`.
    Debug,
    ClusterStatusIn(Vec<&'static str>),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

impl Condition {
    /// The paths that the condition observes; `None` if it may be true without any change.
    pub(crate) fn observed(&self) -> Option<Vec<Path>> {
        match self {
            Self::Changed(path) | Self::Deleted(path) => Some(vec![path.clone()]),
            Self::ChangedAny(paths) | Self::ChangedAll(paths) => Some(paths.clone()),
            Self::Moved(section) => Some(section_paths(section)),
            Self::InputsChanged => Some(Vec::new()),
            Self::OldIs(..) | Self::Debug | Self::ClusterStatusIn(_) | Self::Not(_) => None,
            Self::And(left, right) | Self::Or(left, right) => {
                Some([left.observed()?, right.observed()?].concat())
            }
        }
    }

    pub(crate) fn uses_inputs(&self) -> bool {
        match self {
            Self::InputsChanged => true,
            Self::Not(inner) => inner.uses_inputs(),
            Self::And(left, right) | Self::Or(left, right) => left.uses_inputs() || right.uses_inputs(),
            _ => false,
        }
    }
}

fn section_paths(section: &str) -> Vec<Path> {
    let is_inside = |keys: &&&'static [&'static str]| keys.len() == 2 && keys[0] == section;
    SETTINGS.iter().filter(is_inside).map(|keys| Path::Setting(keys)).collect()
}

/// All settings.
pub(crate) const SETTINGS: &[&[&str]] =
    &[&["shop", "title"], &["shop", "users"], &["shop", "debug"], &["db", "pool"], &["extra", "note"]];

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(path) => write!(f, "changed({path})"),
            Self::ChangedAny(paths) => write!(f, "changedAny({})", list(paths)),
            Self::ChangedAll(paths) => write!(f, "changedAll({})", list(paths)),
            Self::Moved(section) => write!(f, "moved('{section}')"),
            Self::Deleted(path) => write!(f, "deleted({path})"),
            Self::OldIs(path, text) => write!(f, "old({path}) = '{text}'"),
            Self::InputsChanged => f.write_str("inputsChanged()"),
            Self::Debug => f.write_str("$.shop.debug"),
            Self::ClusterStatusIn(words) => write!(f, "$.cluster.status in ['{}']", words.join("', '")),
            Self::Not(inner) => write!(f, "not ({inner})"),
            Self::And(left, right) => write!(f, "({left}) and ({right})"),
            Self::Or(left, right) => write!(f, "({left}) or ({right})"),
        }
    }
}

fn list(paths: &[Path]) -> String {
    paths.iter().map(Path::to_string).collect::<Vec<_>>().join(", ")
}

/// A computed parameter of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// The value at a path that is never absent.
    Read(Path),
    /// A section of the settings; null if it is absent.
    Section(&'static str),
    /// Elements that were added to a list.
    Added(Path),
    /// The old value at a path, as text.
    Old(Path),
    /// The helper `decorate`, applied to the value at a path.
    Decorated(Path),
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path) => write!(f, "{path}"),
            Self::Section(section) => write!(f, "$.get({section})"),
            Self::Added(path) => write!(f, "added({path})"),
            Self::Old(path) => write!(f, "switch(old({path}).isUndef() => '', true => old({path}))"),
            Self::Decorated(path) => write!(f, "decorate({path})"),
        }
    }
}
