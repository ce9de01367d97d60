use std::sync::Arc;

use crate::eval::Callable;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "delegates",
    doc: "Creates a closure of an expression and its context, which can be called as `value(…)`.",
    overloads: &[("f lambda(func: lambda)", lambda)],
    examples: &[
        ("let(f => lambda($ + 1)) -> [4, 5].select($f($))", "[5, 6]"),
        ("lambda($)", r#"{"$yaql": "callable"}"#),
        ("isString(lambda($))", "false"),
    ],
    purity: Purity::Pure,
};

fn lambda(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(args.optional_lambda(0).map_or(Value::Null, |func| Value::Callable(Arc::new(Callable(func)))))
}
