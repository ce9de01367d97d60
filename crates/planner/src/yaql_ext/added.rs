use stoker_yaql::eval::{Args, Cx};
use stoker_yaql::library::{Builtin, Purity};
use stoker_yaql::{Result, Value};

use super::difference::{Side, difference};
use super::scope::{Question, Scope};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "state",
    doc: "What is new in the value of the expression: keys of a map that are new or have another value, items of a \
          list that were inserted or replaced, lines of a text, elements of a set. All of it, if there is no old value.",
    overloads: &[("f added(expression: lambda)", call)],
    examples: &[],
    purity: Purity::Pure,
};

fn call(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (argument, scope) = (args.lambda(0), Scope::of(args)?);
    scope.recalled(&argument, Question::Added, || {
        let (new, old) = scope.in_both(cx, &argument, args.ctx)?;
        match old {
            Some(old) => difference(cx, &old, &new, Side::Added),
            None => Ok(new),
        }
    })
}
