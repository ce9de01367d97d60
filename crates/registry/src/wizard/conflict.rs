//! Why wizards cannot be mixed.

/// What two wizards say and cannot both mean.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MixConflict {
    /// Keys joined by dots, an option as `values[data]`.
    pub path: String,
    /// One of `kinds`.
    pub kind: &'static str,
    /// Whose wizard was being laid in.
    pub plugin: String,
}

/// Kinds of conflicts.
pub(super) mod kinds {
    /// The release has no such pane.
    pub(crate) const UNKNOWN_PANE: &str = "unknown_pane";
    /// A map where a list is, or the like.
    pub(crate) const TYPE: &str = "type";
    /// Two values of one thing.
    pub(crate) const SCALAR: &str = "scalar";
    /// One setting is set to two values.
    pub(crate) const BIND: &str = "bind";
    /// An option that is no map with `data`.
    pub(crate) const MISSING_DATA: &str = "missing_data";
    /// An option that is there already.
    pub(crate) const DUPLICATE_OPTION: &str = "duplicate_option";
}
