//! One attempt, from its parameters to its end.

use stoker_engine::session::Mode;
use stoker_model::{Json, JsonMap};

use crate::check::{Weight, check};
use crate::find;
use crate::host::Host;
use crate::host::noop::Noop;
use crate::host::telling::Telling;
use crate::outcome::{Failure, Outcome};
use crate::task_type::{Context, Run};
use crate::values::Values;

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
    for remark in remarks.iter().filter(|remark| remark.weight < Weight::Error) {
        host.say(&format!("warning: {remark}"));
    }
    let Some(values) = values else {
        let errors = remarks.iter().filter(|remark| remark.weight == Weight::Error);
        return Err(Failure::refused(errors.map(ToString::to_string).collect::<Vec<_>>().join("; ")));
    };
    let Some(run) = task_type.run else { return Ok(JsonMap::new()) };
    match (order.mode, order.debug) {
        (Mode::Normal, false) => carry_out(run, &values, order, &host).await,
        (Mode::Normal, true) => carry_out(run, &values, order, &Telling::new(host)).await,
        (Mode::Noop, false) => carry_out(run, &values, order, &Noop::new(host)).await,
        (Mode::Noop, true) => carry_out(run, &values, order, &Noop::new(Telling::new(host))).await,
    }
}

async fn carry_out(run: Run, values: &Values, order: Order<'_>, host: &dyn Host) -> Outcome {
    let Order { node, mode, debug, .. } = order;
    run(values, Context { host, node, mode, debug }).await
}
