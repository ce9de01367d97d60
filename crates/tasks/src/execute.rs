//! One attempt, from its parameters to its end.

use stoker_engine::session::Mode;
use stoker_model::{Json, JsonMap};

use crate::check::{Weight, check};
use crate::find;
use crate::host::Host;
use crate::host::noop::Noop;
use crate::outcome::{Failure, Outcome};
use crate::task_type::Context;

/// What is to be carried out.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    pub task_type: &'a str,
    pub parameters: &'a Json,
    pub node: &'a str,
    pub mode: Mode,
    pub debug: bool,
}

/// Carries out one attempt. What is wrong with the parameters is told before anything happens.
pub async fn execute<H: Host>(order: Order<'_>, host: H) -> Outcome {
    let Some(task_type) = find(order.task_type) else {
        return Err(Failure::refused(format!(
            "this agent knows no task type `{}`; a newer version may",
            order.task_type
        )));
    };
    let (values, remarks) = check(task_type.parameters, order.parameters);
    for remark in remarks.iter().filter(|remark| remark.weight == Weight::Warning) {
        host.say(&format!("warning: {remark}"));
    }
    let Some(values) = values else {
        let errors = remarks.iter().filter(|remark| remark.weight == Weight::Error);
        return Err(Failure::refused(errors.map(ToString::to_string).collect::<Vec<_>>().join("; ")));
    };
    let Some(run) = task_type.run else { return Ok(JsonMap::new()) };
    let Order { node, mode, debug, .. } = order;
    match mode {
        Mode::Normal => run(&values, Context { host: &host, node, mode, debug }).await,
        Mode::Noop => run(&values, Context { host: &Noop::new(host), node, mode, debug }).await,
    }
}
