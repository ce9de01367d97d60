use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Combines the elements of several collections at the same position into tuples, up to the length of the longest collection. Missing elements are replaced by the named argument `default`, or null. The result is lazy.",
    overloads: &[("m zipLongest(collections: iter..., **kwargs: any)", zip_longest)],
    examples: &[
        ("[1, 2].zipLongest([a])", r#"[[1, "a"], [2, null]]"#),
        ("[1].zipLongest([a, b], [], default => 0)", r#"[[1, "a", 0], [0, "b", 0]]"#),
        ("[].zipLongest([])", "[]"),
        ("[1].zipLongest(a)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn zip_longest(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut sources = Vec::new();
    for collection in args.rest_values() {
        sources.push(Some(cx.iterate(collection)?));
    }
    // As in Python YAQL, other names are ignored.
    let default = args.named_values().into_iter().find(|(name, _)| **name == *"default");
    let filler = default.map(|(_, value)| value).unwrap_or_default();
    let depth = sources.iter().flatten().map(LimitedCursor::depth).max().unwrap_or(0).max(filler.depth());
    cx.charge(64 * sources.len() as u64)?;
    cx.lazy(ZipLongest { active: sources.len(), sources, filler }, depth)
}

struct ZipLongest {
    /// Sources; `None` for collections that have ended.
    sources: Vec<Option<LimitedCursor>>,
    active: usize,
    filler: Value,
}

impl Lazy for ZipLongest {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        let mut items = Vec::with_capacity(self.sources.len());
        for slot in &mut self.sources {
            let item = match slot {
                Some(source) => source.next(cx)?,
                None => None,
            };
            if item.is_none() && slot.take().is_some() {
                self.active -= 1;
            }
            if self.active == 0 {
                return Ok(None);
            }
            items.push(item.unwrap_or_else(|| self.filler.clone()));
        }
        if items.is_empty() { Ok(None) } else { cx.tuple(items).map(Some) }
    }
}
