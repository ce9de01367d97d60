use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the elements for which the predicate is true, with `$` bound to the element. The result is lazy. `filter` is an alias.",
    overloads: &[
        ("m where(collection: iter, predicate: lambda)", where_),
        ("m filter(collection: iter, predicate: lambda)", where_),
    ],
    examples: &[
        ("[5, 6, 7].where($ > 5)", "[6, 7]"),
        ("[5, 6, 7].filter($ mod 2 = 1)", "[5, 7]"),
        ("[{n => 1}, {n => 2}].where($.n = 2)", r#"[{"n": 2}]"#),
        ("{a => 1}.where(true)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn where_(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let predicate = args.optional_lambda(1);
    let depth = predicate.as_ref().map_or(0, Lambda::depth).max(source.depth());
    cx.lazy(Where { source, predicate }, depth)
}

struct Where {
    source: LimitedCursor,
    /// Predicate; `None` if the caller passed null, in which case the truth of the elements decides.
    predicate: Option<Lambda>,
}

impl Lazy for Where {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        while let Some(item) = self.source.next(cx)? {
            let accepted = match &mut self.predicate {
                Some(predicate) => predicate.accept1(cx, item)?,
                None => Some(item).filter(Value::is_true),
            };
            if accepted.is_some() {
                return Ok(accepted);
            }
        }
        Ok(None)
    }
}
