use stoker_yaql::eval::{Args, Ctx, Cx, Lambda};
use stoker_yaql::library::{Builtin, Purity};
use stoker_yaql::{Result, Value};

use super::missing::{is_missing_path, lacks_path};
use super::same::same;
use super::scope::{Scope, StateFunction};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "state",
    doc: "Whether the expression has different values in the new and the old state. An expression without an old value \
          has changed; a path that exists in neither state has not.",
    overloads: &[("f changed(expression: lambda)", call)],
    examples: &[],
    purity: Purity::Pure,
};

fn call(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (argument, scope) = (args.lambda(0), Scope::of(args)?);
    has_changed(cx, &argument, args.ctx, scope).map(Value::Bool)
}

pub(super) fn has_changed(cx: &mut Cx<'_>, argument: &Lambda, ctx: &Ctx, scope: &Scope) -> Result<bool> {
    let answer = scope.cached(argument, StateFunction::Changed, || {
        let (new, old) = match scope.in_both(cx, argument, ctx) {
            Ok(values) => values,
            Err(error) => match argument.expression() {
                Some((program, node)) if is_missing_path(&error, &program.tree, node, &scope.new) => {
                    return Ok(Value::Bool(!lacks_path(&program.tree, node, &scope.old)));
                }
                _ => return Err(error),
            },
        };
        Ok(Value::Bool(old.is_none_or(|old| !same(&old, &new))))
    })?;
    Ok(answer.is_true())
}
