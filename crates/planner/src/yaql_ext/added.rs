use stoker_yaql::eval::{Args, Cx};
use stoker_yaql::library::{Builtin, Purity};
use stoker_yaql::{Result, Value};

use super::difference::{Side, difference};
use super::scope::{Scope, StateFunction};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "state",
    doc: "The parts of the expression's value that were added or changed: keys of a map that are new or have another \
          value, inserted or replaced items of a list or lines of a text, new elements of a set. The whole value if there \
          is no old value.",
    overloads: &[("f added(expression: lambda)", call)],
    examples: &[],
    purity: Purity::Pure,
};

fn call(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (argument, scope) = (args.lambda(0), Scope::of(args)?);
    scope.cached(&argument, StateFunction::Added, || {
        let (new, old) = scope.in_both(cx, &argument, args.ctx)?;
        match old {
            Some(old) => difference(cx, &old, &new, Side::Added),
            None => Ok(new),
        }
    })
}
