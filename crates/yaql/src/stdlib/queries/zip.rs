use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Combines the elements of several collections at the same position into tuples, up to the length of the shortest collection. The result is lazy.",
    overloads: &[("m zip(collections: iter...)", zip)],
    examples: &[
        ("[1, 2, 3].zip([a, b])", r#"[[1, "a"], [2, "b"]]"#),
        ("[a, b].zip(sequence(1), [x, y])", r#"[["a", 1, "x"], ["b", 2, "y"]]"#),
        ("[1].zip()", "[[1]]"),
        ("[1].zip(2)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn zip(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut sources = Vec::new();
    for collection in args.rest_values() {
        sources.push(cx.iterate(collection)?);
    }
    let depth = sources.iter().map(LimitedCursor::depth).max().unwrap_or(0);
    cx.charge(64 * sources.len() as u64)?;
    cx.lazy(Zip { sources }, depth)
}

struct Zip {
    sources: Vec<LimitedCursor>,
}

impl Lazy for Zip {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        let mut items = Vec::with_capacity(self.sources.len());
        for source in &mut self.sources {
            let Some(item) = source.next(cx)? else { return Ok(None) };
            items.push(item);
        }
        if items.is_empty() {
            return Ok(None);
        }
        cx.tuple(items).map(Some)
    }
}
