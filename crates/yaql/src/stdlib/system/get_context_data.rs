use crate::stdlib::prelude::*;
use crate::syntax::VarName;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "system",
    doc: "Returns the value of a variable, `$name`, or null if it is not defined. `$` and `$1` are the same variable.",
    overloads: &[("f #get_context_data(name: string)", get)],
    examples: &[("$nothing", "null"), ("let(port => 80) -> $port", "80"), ("with(7) -> [$, $1]", "[7, 7]")],
    purity: Purity::Pure,
};

fn get(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let name = args.str(0);
    Ok(args.ctx.get(&VarName::new(name.strip_prefix('$').unwrap_or(name))).clone())
}
