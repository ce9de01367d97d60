//! The two dialects of the language.

/// The dialect of a condition.
///
/// | | task | restriction |
/// |---|---|---|
/// | numbers | integers | integers and decimals |
/// | `model:` in a path | required | optional if there is a default model |
/// | `true == 1` | true | false; `1 == 1.0` is true in both |
/// | `x in map` | whether the map has the key | an error |
/// | a key that is missing | null | an error, or null when not strict |
/// | a key of null | an error | like a missing key |
/// | a key of text, a number or a list | an error | an error |
/// | an unknown model | an error | an error |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The field `condition` of a task.
    Task,
    /// `restrictions` of settings, roles and wizards.
    Restriction {
        /// Whether a missing key is an error.
        strict: bool,
        /// The model of a path without `model:`.
        default_model: Option<&'static str>,
    },
}

impl Dialect {
    /// Current restrictions.
    pub const RESTRICTION: Self = Self::Restriction { strict: true, default_model: None };

    /// A restriction with `strict: false`.
    pub const LENIENT_RESTRICTION: Self = Self::Restriction { strict: false, default_model: None };

    /// Wizards of legacy releases, which write `Compute.vcenter` for `wizard:Compute.vcenter`.
    pub const LEGACY_WIZARD: Self = Self::Restriction { strict: true, default_model: Some("wizard") };

    pub(crate) fn is_task(self) -> bool {
        self == Self::Task
    }

    /// Reports whether a missing key evaluates to null.
    pub(crate) fn allows_missing_keys(self) -> bool {
        !matches!(self, Self::Restriction { strict: true, .. })
    }

    pub(crate) fn default_model(self) -> Option<&'static str> {
        match self {
            Self::Task => None,
            Self::Restriction { default_model, .. } => default_model,
        }
    }
}
