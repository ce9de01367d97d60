//! The wizard in which a cluster is made: that of the release, with what plugins add to it.
//!
//! [`mix()`] lays the wizards of plugins into that of a release; nothing a release says can be changed.
//! [`generated_restrictions`] turns what the registry knows into restrictions of the options, so that what does not go
//! together cannot be chosen, and [`with_restrictions`] writes them into the wizard. [`evaluate()`] tells what can be chosen
//! after some answers, [`choose`] judges the answers that somebody gives in the end.

mod answers;
mod bind;
mod canonical;
mod conflict;
mod control;
mod evaluate;
mod generate;
mod mix;
mod options;
mod participant;

pub use answers::{AnswerProblem, Chosen, choose, kinds as answer_kinds, named_components};
pub use conflict::MixConflict;
pub use evaluate::{ControlState, Evaluation, OptionState, evaluate};
pub use generate::{generated_restrictions, n_choices, with_restrictions};
pub use mix::{Mixed, PluginWizard, mix};
