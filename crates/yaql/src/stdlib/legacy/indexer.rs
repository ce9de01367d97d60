use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "legacy",
    doc: "Indexes or filters: `collection[expression]`. On a sequence, the expression is evaluated first, and an integer result is an index. Otherwise the expression filters the elements, with `$` bound to each element.",
    overloads: &[("f #indexer(collection: iter, indexExpression: lambda)", index)],
    examples: &[("[7, 8, 9][1]", "8"), ("[7, 8, 9][$ > 7]", "[8, 9]"), ("[7][5]", "IndexError")],
    purity: Purity::Pure,
};

fn index(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let collection = args.value(0);
    let expression = args.lambda(1);
    if collection.as_seq().is_some() {
        let index = expression.call0(cx)?;
        if matches!(index, Value::Int(_) | Value::BigInt(_)) {
            return crate::eval::index(&collection, &index);
        }
    }
    let source = cx.iterate(collection)?;
    let depth = source.depth().max(expression.depth());
    cx.lazy(Filter { source, predicate: expression }, depth)
}

struct Filter {
    source: LimitedCursor,
    predicate: Lambda,
}

impl Lazy for Filter {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        while let Some(item) = self.source.next(cx)? {
            if self.predicate.test1(cx, item.clone())? {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }
}
