use crate::eval::Cursor;
use crate::stdlib::prelude::*;
use crate::value::KindSet;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Applies the selector to each element and flattens the results by one level. Strings and maps are not flattened. The result is lazy.",
    overloads: &[("m selectMany(collection: iter, selector: lambda)", select_many)],
    examples: &[
        ("[2, 3].selectMany(range($))", "[0, 1, 0, 1, 2]"),
        ("[{p => [1, 2]}, {p => [3]}].selectMany($.p)", "[1, 2, 3]"),
        ("[ab, [[c]], {d => 1}].selectMany($)", r#"["ab", ["c"], {"d": 1}]"#),
        ("[[]].selectMany($)", "[]"),
        ("[1].selectMany($.p)", "NoFunctionRegisteredException"),
    ],
    purity: Purity::Pure,
};

fn select_many(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let selector = args.lambda(1);
    let depth = source.depth().max(selector.depth());
    cx.lazy(SelectMany { source, selector, inner: None }, depth)
}

struct SelectMany {
    source: LimitedCursor,
    selector: Lambda,
    /// The collection being flattened.
    inner: Option<Cursor>,
}

impl Lazy for SelectMany {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        loop {
            if let Some(inner) = &mut self.inner {
                if let Some(item) = inner.next(cx)? {
                    return Ok(Some(item));
                }
                self.inner = None;
            }
            let Some(item) = self.source.next(cx)? else { return Ok(None) };
            let selected = self.selector.call1(cx, item)?;
            if !KindSet::ITER.has(selected.kind()) {
                return Ok(Some(selected));
            }
            self.inner = Some(cx.cursor(selected)?);
        }
    }
}
