use stoker_yaql::eval::{Args, Cx};
use stoker_yaql::library::{Builtin, Purity};
use stoker_yaql::{Result, Value};

use super::scope::{Scope, StateFunction};
use super::undefined::undefined;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "state",
    doc: "The value of the expression in the state with which the task last succeeded on the node. If the evaluation \
          fails, the value is undefined: neither null nor false, and different from every other value.",
    overloads: &[("f old(expression: lambda)", call)],
    examples: &[],
    purity: Purity::Pure,
};

fn call(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (argument, scope) = (args.lambda(0), Scope::of(args)?);
    scope.cached(&argument, StateFunction::Old, || {
        Ok(scope.in_old(cx, &argument, args.ctx)?.unwrap_or_else(undefined))
    })
}
