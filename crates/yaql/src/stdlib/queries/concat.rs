use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the elements of all collections, one collection after the other. The result is lazy.",
    overloads: &[("fm concat(collections: iter...)", concat)],
    examples: &[
        ("concat([1], range(2), [[3]])", "[1, 0, 1, [3]]"),
        ("[a].concat([b, c])", r#"["a", "b", "c"]"#),
        ("[1, 2].concat()", "[1, 2]"),
        ("[1].concat(2)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn concat(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut sources = Vec::new();
    for collection in args.rest_values() {
        sources.push(cx.iterate(collection)?);
    }
    let depth = sources.iter().map(LimitedCursor::depth).max().unwrap_or(0);
    cx.charge(64 * sources.len() as u64)?;
    let mut sources = sources.into_iter();
    let current = sources.next();
    cx.lazy(Concat { current, sources }, depth)
}

struct Concat {
    current: Option<LimitedCursor>,
    sources: std::vec::IntoIter<LimitedCursor>,
}

impl Lazy for Concat {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        while let Some(current) = &mut self.current {
            if let Some(item) = current.next(cx)? {
                return Ok(Some(item));
            }
            self.current = self.sources.next();
        }
        Ok(None)
    }
}
