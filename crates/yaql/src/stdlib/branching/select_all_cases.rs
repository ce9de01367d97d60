use std::iter::Enumerate;

use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "branching",
    doc: "Returns the positions of all arguments that are true, counted from 0. The result is lazy: arguments are evaluated as elements are requested.",
    overloads: &[("f selectAllCases(args: lambda...)", select_all_cases)],
    examples: &[
        ("selectAllCases(7 > 5, 7 > 9, 7 > 6)", "[0, 2]"),
        ("selectAllCases('', null)", "[]"),
        ("2 in selectAllCases(0, 1, 2, nosuch())", "true"),
    ],
    purity: Purity::Pure,
};

fn select_all_cases(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let lambdas = args.rest_lambdas();
    let depth = lambdas.iter().map(Lambda::depth).max().unwrap_or(0);
    cx.lazy(Cases(lambdas.into_iter().enumerate()), depth)
}

struct Cases(Enumerate<std::vec::IntoIter<Lambda>>);

impl Lazy for Cases {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        for (index, lambda) in self.0.by_ref() {
            if lambda.test0(cx)? {
                return Ok(Some(index.into()));
            }
        }
        Ok(None)
    }
}
