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
    /// Who had said it otherwise before: `release`, or another plugin. `None` where the plugin is at odds with itself.
    pub other: Option<String>,
}

impl MixConflict {
    /// A lowercase fragment without a full stop.
    pub fn message(&self) -> String {
        let what = match self.kind {
            kinds::UNKNOWN_PANE => "the release has no such pane",
            kinds::TYPE => "a map, a list and a value cannot be joined",
            kinds::SCALAR => "it has two values",
            kinds::BIND => "choosing this sets it to two values",
            kinds::MISSING_DATA => "an option is a map with `data`",
            _ => "there is an option with this `data` already",
        };
        let path = if self.path.is_empty() { "the wizard" } else { &self.path };
        let parties = match self.other.as_deref() {
            Some("release") => format!("plugin `{}` and the release", self.plugin),
            Some(other) => format!("plugins `{}` and `{other}`", self.plugin),
            None => format!("plugin `{}`", self.plugin),
        };
        format!("`{path}` of {parties}: {what}")
    }
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
