//! Wizard for creating clusters: that of the release with additions of plugins.
//!
//! [`merge_wizards`] merges the wizards of plugins into that of a release; plugins cannot change definitions
//! of the release. [`complete_wizard`] also generates the wizard of a release that has components and no wizard.
//! [`generated_restrictions`] derives restrictions from component compatibility, so that incompatible options cannot be
//! chosen, and [`with_restrictions`] adds them to the wizard. [`with_readable_texts`] replaces translation keys.
//! [`evaluate()`] computes the state of the wizard after some answers; [`validate_answers`] validates the final answers.

mod answers;
mod bind;
mod canonical;
mod conflict;
mod control;
mod evaluate;
mod from_components;
mod generate;
mod mix;
mod options;
mod participant;
mod texts;

pub use answers::{WizardResult, answered_components, kinds as answer_kinds, validate_answers};
pub use conflict::WizardConflict;
pub(crate) use control::WIZARD_MODEL;
pub use evaluate::{ControlState, OptionState, WizardEvaluation, evaluate};
pub use from_components::complete_wizard;
pub use generate::{count_component_choices, generated_restrictions, relabeled, with_restrictions};
pub use mix::{MergedWizard, PluginWizard, merge_wizards};
pub use texts::with_readable_texts;
