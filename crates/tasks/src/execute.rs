//! Execution of one attempt: validates the parameters, selects the host, runs the task type.

use stoker_diagnostics::Severity;
use stoker_engine::session::Mode;
use stoker_model::{Json, TaskReport};

use crate::check::check_parameters;
use crate::context::Context;
use crate::find;
use crate::host::Host;
use crate::host::noop::Noop;
use crate::host::verbose::Verbose;
use crate::outcome::{Failure, TaskOutcome};
use crate::task_type::{TaskRunner, TaskType};
use crate::values::Values;

/// Task type, parameters and mode of one attempt.
#[derive(Clone, Copy, Debug)]
pub struct AttemptSpec<'a> {
    pub task_type: &'a str,
    pub parameters: &'a Json,
    pub node: &'a str,
    pub mode: Mode,
    pub debug: bool,
}

/// Executes one attempt. All parameters are validated first.
pub async fn execute<H: Host>(order: AttemptSpec<'_>, host: H) -> TaskOutcome {
    let (task_type, values) = validated(order, &host)?;
    let Some(run) = task_type.run else { return Ok(TaskReport::default()) };
    match (order.mode, order.debug) {
        (Mode::Normal, false) => run_on(run, &values, order, &host).await,
        (Mode::Normal, true) => run_on(run, &values, order, &Verbose::new(host)).await,
        (Mode::Noop, false) => run_on(run, &values, order, &Noop::new(host)).await,
        (Mode::Noop, true) => run_on(run, &values, order, &Noop::new(Verbose::new(host))).await,
    }
}

/// Compares the host with the desired state that a task describes, and reports the differences. Changes nothing.
pub async fn compare<H: Host>(task_type: &str, parameters: &Json, node: &str, host: H) -> TaskOutcome {
    let order = AttemptSpec { task_type, parameters, node, mode: Mode::Noop, debug: false };
    let (task_type, values) = validated(order, &host)?;
    let Some(TaskRunner::Resource(resource)) = task_type.run else {
        return Err(Failure::refused(format!("the task type `{}` describes no state", task_type.name)));
    };
    let host = Noop::new(host);
    let diff =
        resource.compare(&values, Context { host: &host, node, mode: order.mode, debug: false }).await?;
    Ok(TaskReport { changed: Some(!diff.is_empty()), diff, ..TaskReport::default() })
}

/// Returns the task type and the values of its parameters.
fn validated<H: Host>(order: AttemptSpec<'_>, host: &H) -> Result<(&'static TaskType, Values), Failure> {
    let Some(task_type) = find(order.task_type) else {
        return Err(Failure::refused(format!(
            "this agent does not support the task type `{}`; upgrade the agent",
            order.task_type
        )));
    };
    let (values, problems) = check_parameters(task_type.parameters, order.parameters);
    // Notes were shown when the graph was uploaded.
    for warning in problems.iter().filter(|problem| problem.severity == Severity::Warning) {
        host.log(&format!("warning: {}", warning.message));
    }
    let Some(values) = values else {
        let errors = problems.iter().filter(|problem| problem.is_error());
        let messages: Vec<&str> = errors.map(|error| error.message.as_str()).collect();
        return Err(Failure::refused(messages.join("; ")));
    };
    Ok((task_type, values))
}

async fn run_on(run: TaskRunner, values: &Values, order: AttemptSpec<'_>, host: &dyn Host) -> TaskOutcome {
    let AttemptSpec { node, mode, debug, .. } = order;
    let cx = Context { host, node, mode, debug };
    match run {
        TaskRunner::Action(act) => act(values, cx).await,
        TaskRunner::Resource(resource) => resource.converge(values, cx).await,
    }
}
