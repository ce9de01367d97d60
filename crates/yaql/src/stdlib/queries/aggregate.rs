use super::support::fold;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Folds the elements from the left into one value. The selector gets the accumulated value as `$1` and the element as `$2`. Without a seed, the fold starts with the first element and fails with TypeError if the collection is empty. `reduce` is an alias.",
    overloads: &[
        ("m aggregate(collection: iter, selector: lambda, seed: any = none)", aggregate),
        ("m reduce(collection: iter, selector: lambda, seed: any = none)", aggregate),
    ],
    examples: &[
        ("[9, 4, 3].aggregate($1 - $2)", "2"),
        ("[1, 2, 3].reduce($1 * 10 + $2, 7)", "7123"),
        ("[].reduce($1 + $2, none)", r#""none""#),
        ("[8].aggregate($1 / 0)", "8"),
        ("[].aggregate($1 + $2)", "TypeError"),
    ],
    purity: Purity::Pure,
};

fn aggregate(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut selector = args.lambda(1);
    let seed = args.optional(2);
    fold(cx, args.value(0), seed, |cx, total, item| selector.call2(cx, total, item))
}
