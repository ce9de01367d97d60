use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Applies the selector to each element, with `$` bound to the element. The result is lazy. `map` is an alias.",
    overloads: &[
        ("m select(collection: iter, selector: lambda)", select),
        ("m map(collection: iter, selector: lambda)", select),
    ],
    examples: &[
        ("[1, 2].select($ * 10)", "[10, 20]"),
        ("[{a => 1}, {a => 2}].map([$.a])", "[[1], [2]]"),
        ("[3, 0].select(6 / $).first()", "2"),
        ("[3, 0].select(6 / $)", "ZeroDivisionError"),
        ("{a => 1}.select($)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn select(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let source = cx.iterate(args.value(0))?;
    let selector = args.lambda(1);
    let depth = source.depth().max(selector.depth());
    cx.lazy(Select { source, selector }, depth)
}

struct Select {
    source: LimitedCursor,
    selector: Lambda,
}

impl Lazy for Select {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        let Some(item) = self.source.next(cx)? else { return Ok(None) };
        self.selector.call1(cx, item).map(Some)
    }
}
