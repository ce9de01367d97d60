use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the elements of a collection followed by the arguments. A collection as argument is appended as a single element; use `concat` to join collections. The result is lazy.",
    overloads: &[("fm append(collection: iter, args: any...)", append)],
    examples: &[
        ("[1, 2].append(3, null)", "[1, 2, 3, null]"),
        ("append(range(2), [7, 8])", "[0, 1, [7, 8]]"),
        ("[x].append()", r#"["x"]"#),
        ("append(5, 6)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn append(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let more = args.rest_values();
    let depth = more.iter().map(Value::depth).max().unwrap_or(0).max(source.depth());
    cx.charge(24 * more.len() as u64)?;
    cx.lazy(Append { source: Some(source), more: more.into_iter() }, depth)
}

struct Append {
    /// Source of the elements; `None` after the end.
    source: Option<LimitedCursor>,
    more: std::vec::IntoIter<Value>,
}

impl Lazy for Append {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        if let Some(source) = &mut self.source {
            if let Some(item) = source.next(cx)? {
                return Ok(Some(item));
            }
            self.source = None;
        }
        Ok(self.more.next())
    }
}
