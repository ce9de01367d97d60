//! Task types: what a task can be, what its parameters mean, and how it is carried out on a host.
//!
//! A new type is a folder under `types/` and one line in the list there: `mod.rs` (reference text and registration),
//! `spec.rs` (the table of parameters and their meaning as a struct; pure), `run.rs` (the executor, on the [`Host`] port) and
//! `cases/*.yaml` (parameters, and the calls on the host that follow). The suite goes over the list, so a new type is
//! tested before its author writes a test.
//!
//! Knows nothing of sessions, journals and retries: one attempt is carried out, once.

pub mod check;
mod execute;
pub mod host;
mod outcome;
pub mod output;
pub mod parameter;
mod prepare;
pub mod reference;
pub mod schema;
#[cfg(test)]
mod suite;
mod task_type;
mod timing;
mod types;
mod values;

pub use check::{Remark, Weight};
pub use execute::{Order, execute};
pub use host::{Host, HostError, Stop, StopReason, Stopper};
pub use outcome::{Cause, Failure, Outcome, masked};
pub use parameter::{Kind, Need, Parameter};
pub use prepare::{COPY_BYTES_MAX, FolderFile, MasterFiles, SystemFiles, prepare};
pub use task_type::{Context, TaskType};
pub use timing::timing_of;
pub use types::TASK_TYPES;
pub use types::modules::{DRIVERS as MODULE_DRIVERS, Driver as ModuleDriver};
pub use values::Values;

use stoker_model::Json;

/// The name of the type that no graph has: an ordered list of modules.
pub const MODULES: &str = types::modules::TYPE.name;

/// Every type that an agent carries out, those that no graph has too.
pub(crate) fn all() -> impl Iterator<Item = &'static TaskType> {
    TASK_TYPES.iter().copied().chain([&types::modules::TYPE])
}

/// The type of that name.
pub fn find(name: &str) -> Option<&'static TaskType> {
    all().find(|task_type| task_type.name == name)
}

/// Whether attempts of a type carry files that only the master has.
pub fn needs_files(name: &str) -> bool {
    find(name).is_some_and(|task_type| task_type.prepare.is_some())
}

/// Everything there is to be said about the parameters of a task, once nothing in them is left to be computed.
pub fn check(name: &str, parameters: &Json) -> Vec<Remark> {
    match find(name) {
        Some(task_type) => check::check(task_type.parameters, parameters).1,
        None => vec![Remark {
            place: String::new(),
            weight: Weight::Error,
            message: format!("there is no task type `{name}`"),
        }],
    }
}
