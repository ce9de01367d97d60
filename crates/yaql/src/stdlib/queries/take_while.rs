use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the elements before the first one for which the predicate is false. The result is lazy.",
    overloads: &[("m takeWhile(collection: iter, predicate: lambda)", take_while)],
    examples: &[
        ("[1, 5, 2].takeWhile($ < 3)", "[1]"),
        ("sequence().takeWhile($ * $ < 20)", "[0, 1, 2, 3, 4]"),
        ("[1, 2].takeWhile(false)", "[]"),
        ("[1, x].takeWhile($ < 3)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn take_while(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let predicate = args.lambda(1);
    let depth = source.depth().max(predicate.depth());
    cx.lazy(TakeWhile { source, predicate, ended: false }, depth)
}

struct TakeWhile {
    source: LimitedCursor,
    predicate: Lambda,
    ended: bool,
}

impl Lazy for TakeWhile {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        if self.ended {
            return Ok(None);
        }
        let Some(item) = self.source.next(cx)? else { return Ok(None) };
        if self.predicate.test1(cx, item.clone())? {
            return Ok(Some(item));
        }
        self.ended = true;
        Ok(None)
    }
}
