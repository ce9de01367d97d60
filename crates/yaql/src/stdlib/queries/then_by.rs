use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Adds a sort key for elements whose previous keys are equal. The receiver must be the result of `orderBy` or `thenBy`; the key is added to that ordering in place.",
    overloads: &[("m thenBy(collection: ordering, selector: lambda)", then_by)],
    examples: &[
        ("[[2, a], [1, b], [1, a]].orderBy($[0]).thenBy($[1])", r#"[[1, "a"], [1, "b"], [2, "a"]]"#),
        ("[23, 14, 13].orderBy($ mod 10).thenBy($ / 10)", "[13, 23, 14]"),
        ("[2, 1].thenBy($)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn then_by(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let ordering = args.value(0);
    if let Value::Ordering(cell) = &ordering {
        cell.then_by(cx, args.lambda(1), true);
    }
    Ok(ordering)
}
