use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "branching",
    doc: "The position, counted from 0, of the first argument that counts as true; the number of arguments when none does. Arguments after that one are not evaluated. Its result suits `switchCase`.",
    overloads: &[("f selectCase(args: lambda...)", select_case)],
    examples: &[
        ("selectCase(5 < 3, 5 < 10, nosuch())", "1"),
        ("selectCase(null, [])", "2"),
        ("selectCase('' = null, 1 = 1).switchCase(a, b, c)", "\"b\""),
    ],
    purity: Purity::Pure,
};

fn select_case(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let lambdas = args.rest_lambdas();
    for (index, lambda) in lambdas.iter().enumerate() {
        if lambda.test0(cx)? {
            return Ok(index.into());
        }
    }
    Ok(lambdas.len().into())
}
