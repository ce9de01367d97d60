use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the elements repeated indefinitely; empty if the collection is. The elements are stored during the first pass.",
    overloads: &[("m cycle(collection: iter)", cycle)],
    examples: &[
        ("[1, 2].cycle().take(5)", "[1, 2, 1, 2, 1]"),
        ("[].cycle()", "[]"),
        ("[red, green].cycle().zip(range(3))", r#"[["red", 0], ["green", 1], ["red", 2]]"#),
        ("[1].cycle()", "CollectionTooLargeException"),
    ],
    purity: Purity::Pure,
};

fn cycle(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let depth = source.depth();
    cx.lazy(Cycle { source: Some(source), saved: Vec::new(), at: 0 }, depth)
}

struct Cycle {
    /// Source of the elements; `None` after the first pass.
    source: Option<LimitedCursor>,
    saved: Vec<Value>,
    at: usize,
}

impl Lazy for Cycle {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        if let Some(source) = &mut self.source {
            if let Some(item) = source.next(cx)? {
                cx.charge(24)?;
                self.saved.push(item.clone());
                cx.check_bytes(56 + 8 * self.saved.len() as u64)?;
                return Ok(Some(item));
            }
            self.source = None;
        }
        let item = self.saved.get(self.at).cloned();
        self.at = if self.at + 1 < self.saved.len() { self.at + 1 } else { 0 };
        Ok(item)
    }
}
