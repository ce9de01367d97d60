use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns a list of the elements of a collection, consuming a lazy collection. A list has a length and an index and can be iterated repeatedly. Lists returned by `split()` and some other functions never equal a list literal; the result of `toList()` can.",
    overloads: &[("m toList(collection: iter)", to_list)],
    examples: &[
        ("[1, 2, 3].where($ > 1).toList()[0]", "2"),
        ("{a => 1}.values().toList().len()", "1"),
        ("[1].insert(0, 2).toList() = [2, 1]", "true"),
        ("{a => 1}.toList()", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn to_list(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    of(cx, args.value(0))
}

pub(super) fn of(cx: &mut Cx<'_>, collection: Value) -> Result<Value> {
    if let Value::Tuple(_) = collection {
        return Ok(collection);
    }
    let items = cx.iterate(collection)?.collect(cx)?;
    cx.tuple(items)
}
