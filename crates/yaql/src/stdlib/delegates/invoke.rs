use smallvec::SmallVec;

use crate::stdlib::prelude::*;
use crate::syntax::VarName;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "delegates",
    doc: "Calls a function created by `lambda`: `value(…)`.",
    overloads: &[("f #call(callable: callable, args: any..., **kwargs: any)", invoke)],
    examples: &[
        ("lambda($ * 3)(5)", "15"),
        ("lambda($a - $b)(a => 9, b => 4)", "5"),
        ("5(1)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn invoke(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let Value::Callable(callable) = args.value(0) else { return Ok(Value::Null) };
    let mut vars: SmallVec<[(VarName, Value); 4]> = SmallVec::new();
    for (index, value) in args.rest_values().into_iter().enumerate() {
        vars.push((VarName::Positional(index as u32 + 1), value));
    }
    for (name, value) in args.named_values() {
        vars.push((VarName::new(&name), value));
    }
    callable.0.call(cx, vars)
}
