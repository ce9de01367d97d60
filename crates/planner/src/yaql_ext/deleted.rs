use stoker_yaql::eval::{Args, Cx};
use stoker_yaql::library::{Builtin, Purity};
use stoker_yaql::{Result, Value};

use super::difference::{Side, difference};
use super::scope::{Scope, StateFunction};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "state",
    doc: "The parts of the expression's old value that were removed or changed, in the form that `added` returns. Null if \
          there is no old value.",
    overloads: &[("f deleted(expression: lambda)", call)],
    examples: &[],
    purity: Purity::Pure,
};

fn call(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (argument, scope) = (args.lambda(0), Scope::of(args)?);
    scope.cached(&argument, StateFunction::Deleted, || {
        let (new, old) = scope.in_both(cx, &argument, args.ctx)?;
        match old {
            Some(old) => difference(cx, &old, &new, Side::Deleted),
            None => Ok(Value::Null),
        }
    })
}
