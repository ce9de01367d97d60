use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the elements starting at the first one for which the predicate is false. The result is lazy.",
    overloads: &[("m skipWhile(collection: iter, predicate: lambda)", skip_while)],
    examples: &[
        ("[1, 5, 2].skipWhile($ < 3)", "[5, 2]"),
        ("[1, 2].skipWhile(true)", "[]"),
        ("[1, 2].skipWhile(false)", "[1, 2]"),
        ("sequence().skipWhile(true)", "CollectionTooLargeException"),
    ],
    purity: Purity::Pure,
};

fn skip_while(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let predicate = args.lambda(1);
    let depth = source.depth().max(predicate.depth());
    cx.lazy(SkipWhile { source, predicate: Some(predicate) }, depth)
}

struct SkipWhile {
    source: LimitedCursor,
    /// Predicate; `None` after the first element that was returned.
    predicate: Option<Lambda>,
}

impl Lazy for SkipWhile {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        while let Some(predicate) = &mut self.predicate {
            let Some(item) = self.source.next(cx)? else { return Ok(None) };
            if !predicate.test1(cx, item.clone())? {
                self.predicate = None;
                return Ok(Some(item));
            }
        }
        self.source.next(cx)
    }
}
