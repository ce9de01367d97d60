use stoker_yaql::eval::{Args, Cx};
use stoker_yaql::library::{Builtin, Purity};
use stoker_yaql::{Result, Value};

use super::scope::{Question, Scope};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "state",
    doc: "The expression over the new state of the node, wherever it stands: inside a lambda too, where `$` is \
          something else.",
    overloads: &[("f new(expression: lambda)", call)],
    examples: &[],
    purity: Purity::Pure,
};

fn call(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (argument, scope) = (args.lambda(0), Scope::of(args)?);
    scope.recalled(&argument, Question::New, || scope.in_new(cx, &argument, args.ctx))
}
