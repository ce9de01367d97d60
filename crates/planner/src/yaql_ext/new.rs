use stoker_yaql::eval::{Args, Cx};
use stoker_yaql::library::{Builtin, Purity};
use stoker_yaql::{Result, Value};

use super::scope::{Scope, StateFunction};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "state",
    doc: "The value of the expression in the new state of the node, also inside a lambda, where `$` is otherwise bound to \
          an element.",
    overloads: &[("f new(expression: lambda)", call)],
    examples: &[],
    purity: Purity::Pure,
};

fn call(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (argument, scope) = (args.lambda(0), Scope::of(args)?);
    scope.cached(&argument, StateFunction::New, || scope.in_new(cx, &argument, args.ctx))
}
