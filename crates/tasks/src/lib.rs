//! Task types: their parameters, reference documentation and execution on a host.
//!
//! To add a type, create a directory under `types/` and a line in the list there: `mod.rs` (reference text
//! and registration), `spec.rs` (parameter table and its conversion to a struct; pure), `run.rs` (execution
//! on the [`Host`] port) and `cases/*.yaml` (parameters and the expected host calls). The test suite iterates
//! over the list, so a new type is tested without additional test code. Graphs accept it by its word in
//! [`stoker_model::TaskType`].
//!
//! The crate executes a single attempt. Sessions, journals and retries belong to the agent and the server.

pub mod check;
mod context;
mod execute;
pub mod host;
mod outcome;
pub mod output;
pub mod parameter;
mod prepare;
pub mod reference;
mod resource;
pub mod schema;
#[cfg(test)]
mod suite;
mod task_type;
mod timing;
mod types;
mod values;
mod written;

pub use context::Context;
pub use execute::{AttemptSpec, compare, execute};
pub use host::{Host, HostError, StopReason, StopSender, StopSignal};
pub use outcome::{Failure, FailureCause, TaskOutcome, mask_outcome};
pub use parameter::{Parameter, ParameterRequirement, ParameterType};
pub use prepare::{COPY_BYTES_MAX, FolderFile, MasterFileError, MasterFiles, SystemFiles, prepare};
pub use resource::Resource;
pub use task_type::{TaskRunner, TaskType};
pub use timing::default_timing;
pub use types::TASK_TYPES;
pub use types::modules::{DRIVERS as MODULE_DRIVERS, Driver as ModuleDriver};
pub use values::Values;
pub use written::check_written;

use stoker_diagnostics::Diagnostic;
use stoker_model::Json;

/// Name of the internal type for module operations; graphs cannot contain it.
pub const MODULES_TASK_TYPE: &str = types::modules::TYPE.name;

/// Returns all types that an agent can execute, including those that graphs cannot contain.
pub(crate) fn all() -> impl Iterator<Item = &'static TaskType> {
    TASK_TYPES.iter().copied().chain([&types::modules::TYPE])
}

/// Returns the type with this name.
pub fn find(name: &str) -> Option<&'static TaskType> {
    all().find(|task_type| task_type.name == name)
}

/// Reports whether tasks of a type describe a state that [`compare`] can compare with the host.
pub fn describes_state(name: &str) -> bool {
    matches!(find(name).and_then(|task_type| task_type.run), Some(TaskRunner::Resource(_)))
}

/// Reports whether attempts of a type carry files that the master has to add.
pub fn needs_master_files(name: &str) -> bool {
    find(name).is_some_and(|task_type| task_type.prepare.is_some())
}

/// Validates the parameters of a task. Computed parameters must be evaluated before.
pub fn check(name: &str, parameters: &Json) -> Vec<Diagnostic> {
    match find(name) {
        Some(task_type) => check::check_parameters(task_type.parameters, parameters).1,
        None => vec![Diagnostic::plain(format!("unknown task type `{name}`"))],
    }
}
