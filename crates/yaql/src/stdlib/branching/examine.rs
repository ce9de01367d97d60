use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "branching",
    doc: "Returns a boolean for each argument. The result is lazy: each argument is evaluated when its element is requested.",
    overloads: &[("f examine(args: lambda...)", examine)],
    examples: &[
        ("examine(2 > 1, null, x)", "[true, false, true]"),
        ("examine()", "[]"),
        ("examine(1 / 0)", "ZeroDivisionError"),
        ("true in examine(0, 5, nosuch())", "true"),
    ],
    purity: Purity::Pure,
};

fn examine(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let lambdas = args.rest_lambdas();
    let depth = lambdas.iter().map(Lambda::depth).max().unwrap_or(0);
    cx.lazy(Examine(lambdas.into_iter()), depth)
}

struct Examine(std::vec::IntoIter<Lambda>);

impl Lazy for Examine {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        let Some(lambda) = self.0.next() else { return Ok(None) };
        Ok(Some(Value::Bool(lambda.test0(cx)?)))
    }
}
