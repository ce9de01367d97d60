use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "branching",
    doc: "Evaluates and returns the argument at the position given by the receiver, counted from 0. The last argument is used if the position is out of range. Returns null if there are no arguments. The other arguments are not evaluated.",
    overloads: &[("m switchCase(case: int, args: lambda...)", switch_case)],
    examples: &[
        ("0.switchCase(red, nosuch())", "\"red\""),
        ("7.switchCase(red, green, blue)", "\"blue\""),
        ("(-1).switchCase(red, green, blue)", "\"blue\""),
        ("true.switchCase(no, yes)", "\"yes\""),
        ("2.switchCase()", "null"),
        ("a.switchCase(1, 2)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn switch_case(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let lambdas = args.rest_lambdas();
    let lambda = usize::try_from(args.int(0)).ok().and_then(|case| lambdas.get(case));
    match lambda.or(lambdas.last()) {
        Some(lambda) => lambda.call0(cx),
        None => Ok(Value::Null),
    }
}
