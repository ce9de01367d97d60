use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "branching",
    doc: "Returns the position of the first argument that is true, counted from 0, or the number of arguments if none is. Later arguments are not evaluated. Use the result with `switchCase`.",
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
