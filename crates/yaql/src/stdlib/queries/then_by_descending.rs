use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Sorts elements that are equal so far by a further key, largest first. Only on what `orderBy` or another `thenBy` gives; the key is added to that very ordering.",
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
