use super::support::{Parts, ToList};
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Splits a collection into runs of consecutive elements for which the predicate returns equal values. The values are compared for equality, not only for truth. The result is lazy.",
    overloads: &[("m sliceWhere(collection: iter, predicate: lambda)", slice_where)],
    examples: &[
        ("[1, 3, 2, 4, 5].sliceWhere($ mod 2)", "[[1, 3], [2, 4], [5]]"),
        ("[a, a, b].sliceWhere($)", r#"[["a", "a"], ["b"]]"#),
        ("[1, 2].sliceWhere(null)", "[[1, 2]]"),
        ("[].sliceWhere($)", "[]"),
        ("sequence().sliceWhere($)", "CollectionTooLargeException"),
    ],
    purity: Purity::Pure,
};

fn slice_where(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = args.value(0);
    let predicate = args.lambda(1);
    let to_list = ToList::new(cx, args.ctx)?;
    let depth = source.depth().max(predicate.depth());
    cx.lazy(SliceWhere { parts: Parts::new(source, to_list), predicate, value: None }, depth)
}

struct SliceWhere {
    parts: Parts,
    predicate: Lambda,
    /// The result of the predicate for the previous element.
    value: Option<Value>,
}

impl Lazy for SliceWhere {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        while let Some(item) = self.parts.current(cx)? {
            let value = self.predicate.call1(cx, item)?;
            let changed = self.value.as_ref().is_some_and(|before| !before.equals(&value));
            self.value = Some(value);
            if changed {
                let part = self.parts.cut_before(cx)?;
                self.parts.advance();
                return Ok(Some(part));
            }
            self.parts.advance();
        }
        self.parts.rest(cx)
    }
}
