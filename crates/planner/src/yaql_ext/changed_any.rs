use stoker_yaql::eval::{Args, Cx};
use stoker_yaql::library::{Builtin, Purity};
use stoker_yaql::{Result, Value};

use super::changed::has_changed;
use super::scope::Scope;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "state",
    doc: "Whether any of the expressions has changed. Stops at the first that has; false without arguments.",
    overloads: &[("f changedAny(expressions: lambda...)", call)],
    examples: &[],
    purity: Purity::Pure,
};

fn call(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (arguments, scope) = (args.rest_lambdas(), Scope::of(args)?);
    for argument in &arguments {
        if has_changed(cx, argument, args.ctx, scope)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}
