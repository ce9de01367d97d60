use smallvec::SmallVec;

use crate::stdlib::prelude::*;
use crate::syntax::VarName;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "system",
    doc: "Returns a context that defines variables, for the expression after `->`. Positional arguments become `$1`, `$2`, … and named arguments `$name`. The arguments cannot refer to the new variables.",
    overloads: &[("f let(args: any..., **kwargs: any)", let_)],
    examples: &[
        ("let(size => 3) -> $size * $size", "9"),
        ("let(4, 5, k => 6) -> [$, $2, $k]", "[4, 5, 6]"),
        ("let(a => 1, b => $a) -> $b", "null"),
        ("let('a' => 1) -> $a", "MappingTranslationException"),
    ],
    purity: Purity::Pure,
};

fn let_(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let ctx = args.ctx;
    let mut vars: SmallVec<[(VarName, Value); 1]> = SmallVec::new();
    for (index, value) in args.rest_values().into_iter().enumerate() {
        vars.push((VarName::Positional(index as u32 + 1), value));
    }
    for (name, value) in args.named_values() {
        vars.push((VarName::new(&name), value));
    }
    Ok(Value::Context(ctx.with_vars(vars)?))
}
