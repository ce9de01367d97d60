//! Two dialects of one language.

/// Who wrote the condition, and so how it is read.
///
/// | | task | restriction |
/// |---|---|---|
/// | numbers | integers | integers and decimals |
/// | `model:` in a path | always | may be left out when there is a default model |
/// | `true == 1` | true | false; `1 == 1.0` is true in both |
/// | `x in map` | whether there is the key | an error |
/// | a key that is missing | null | an error, or null when not strict |
/// | a key of null | an error | as a key that is missing |
/// | a key of text, a number, a list | an error | an error |
/// | a model that is not there | an error | an error |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `condition` of a task.
    Task,
    /// `restrictions` of settings, roles and wizards.
    Restriction {
        /// Whether a missing key is an error.
        strict: bool,
        /// What a path without `model:` is about.
        default_model: Option<&'static str>,
    },
}

impl Dialect {
    /// Restrictions as they are written now.
    pub const RESTRICTION: Self = Self::Restriction { strict: true, default_model: None };

    /// A restriction that says `strict: false`.
    pub const LENIENT_RESTRICTION: Self = Self::Restriction { strict: false, default_model: None };

    /// Wizards of old releases, which write `Compute.vcenter` for `wizard:Compute.vcenter`.
    pub const OLD_WIZARD: Self = Self::Restriction { strict: true, default_model: Some("wizard") };

    pub(crate) fn is_task(self) -> bool {
        self == Self::Task
    }

    /// Whether a missing key is null.
    pub(crate) fn forgives_missing(self) -> bool {
        !matches!(self, Self::Restriction { strict: true, .. })
    }

    pub(crate) fn default_model(self) -> Option<&'static str> {
        match self {
            Self::Task => None,
            Self::Restriction { default_model, .. } => default_model,
        }
    }
}
