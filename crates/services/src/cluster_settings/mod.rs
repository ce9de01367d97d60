//! Settings of clusters: defaults of the release, changes by operators, and the settings of plugins.

mod change;
mod check;
mod defaults;
mod document;
mod lock;
mod restrictions;
mod sections;

pub(crate) use check::settings as setting_problems;

pub use change::{ChangedSettings, settings_reset, settings_update};
pub use defaults::Defaults;
pub use document::{defaults, settings};
pub use restrictions::{condition_models, restricted_settings_of};
