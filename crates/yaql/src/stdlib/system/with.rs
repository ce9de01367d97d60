use crate::stdlib::prelude::*;
use crate::syntax::VarName;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "system",
    doc: "Returns a context that binds the arguments to `$1`, `$2`, …; like `let` with positional arguments only.",
    overloads: &[("f with(args: any...)", with)],
    examples: &[
        ("with(9, 4) -> $1 - $2", "5"),
        ("with([1, 2, 3]) -> $.len()", "3"),
        ("with(a => 1)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn with(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let ctx = args.ctx;
    let values = args.rest_values().into_iter().enumerate();
    let vars = values.map(|(index, value)| (VarName::Positional(index as u32 + 1), value));
    Ok(Value::Context(ctx.with_vars(vars)?))
}
