//! Conflicts between wizards.

/// Contradiction between two wizards.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WizardConflict {
    /// Dotted path; an option is `values[data]`.
    pub path: String,
    /// Kind of conflict, one of `kinds`.
    pub kind: &'static str,
    /// Plugin whose wizard was being merged.
    pub plugin: String,
    /// Source of the earlier value: `release` or another plugin. `None` if the plugin contradicts itself.
    pub other: Option<String>,
    /// Panes of the release, if the conflict is an unknown pane.
    pub panes: Vec<String>,
}

impl WizardConflict {
    /// Returns the message: lowercase, without a trailing period.
    pub fn message(&self) -> String {
        let reason = match self.kind {
            kinds::UNKNOWN_PANE => {
                let panes: Vec<String> = self.panes.iter().map(|pane| format!("`{pane}`")).collect();
                format!("plugins cannot add panes; use a pane of the release: {}", panes.join(", "))
            }
            kinds::TYPE => "values of different types cannot be merged".to_owned(),
            kinds::SCALAR => "conflicting values".to_owned(),
            kinds::BIND => "it is bound to conflicting values".to_owned(),
            kinds::MISSING_DATA => "an option must be a map with `data`".to_owned(),
            _ => "duplicate option `data`".to_owned(),
        };
        let path = if self.path.is_empty() { "the wizard" } else { &self.path };
        let parties = match self.other.as_deref() {
            Some("release") => format!("plugin `{}` and the release", self.plugin),
            Some(other) => format!("plugins `{}` and `{other}`", self.plugin),
            None => format!("plugin `{}`", self.plugin),
        };
        format!("`{path}` of {parties}: {reason}")
    }
}

/// Conflict kinds.
pub(super) mod kinds {
    /// Pane that the release does not have.
    pub(crate) const UNKNOWN_PANE: &str = "unknown_pane";
    /// Different types, for example a map and a list.
    pub(crate) const TYPE: &str = "type";
    /// Different scalar values.
    pub(crate) const SCALAR: &str = "scalar";
    /// A path is set to two values.
    pub(crate) const BIND: &str = "bind";
    /// Option that is not a map with `data`.
    pub(crate) const MISSING_DATA: &str = "missing_data";
    /// Duplicate option.
    pub(crate) const DUPLICATE_OPTION: &str = "duplicate_option";
}
