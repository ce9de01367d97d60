use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Adds a descending sort key for elements whose previous keys are equal. The receiver must be the result of `orderBy` or `thenBy`; the key is added to that ordering in place.",
    overloads: &[("m thenByDescending(collection: ordering, selector: lambda)", then_by_descending)],
    examples: &[
        (
            "[[2, a], [1, a], [1, b]].orderBy($[0]).thenByDescending($[1])",
            r#"[[1, "b"], [1, "a"], [2, "a"]]"#,
        ),
        ("[13, 14, 23].orderByDescending($ mod 10).thenByDescending($ / 10)", "[14, 23, 13]"),
        ("range(3).thenByDescending($)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn then_by_descending(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let ordering = args.value(0);
    if let Value::Ordering(cell) = &ordering {
        cell.then_by(cx, args.lambda(1), false);
    }
    Ok(ordering)
}
