use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "math",
    doc: "Returns the number unchanged.",
    overloads: &[("f #unary_operator_+(op: number)", plus)],
    examples: &[("+5", "5"), ("+(-2.5)", "-2.5"), ("+true", "NoMatchingFunctionException")],
    purity: Purity::Pure,
};

fn plus(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    Ok(args.value(0))
}
