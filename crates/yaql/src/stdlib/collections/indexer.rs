use crate::eval::operators;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns an element: `map[key]`, `map[key, default]` or `list[position]`. Fails with KeyError if a map does not have the key and there is no default. Positions count from 0, negative positions from the end; fails with IndexError if the position is out of range. Strings, sets and lazy collections cannot be indexed; convert them with `toList()` first.",
    overloads: &[
        ("f #indexer(dict: map, key: any)", of_map),
        ("f #indexer(dict: map, key: any, default: any)", of_map_or_default),
        ("f #indexer(list: seq, index: int)", of_list),
    ],
    examples: &[
        ("[web, db, mon][1]", "\"db\""),
        ("[web, db, mon][-1]", "\"mon\""),
        ("{'tcp port' => 80}['tcp port']", "80"),
        ("{a => 1}[b, 0]", "0"),
        ("{a => 1}[b]", "KeyError"),
        ("[web][2]", "IndexError"),
    ],
    purity: Purity::Pure,
};

fn of_map(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    operators::index(args.peek(0), args.peek(1))
}

fn of_map_or_default(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let map = args.map(0);
    let value = map.get(args.peek(1))?.cloned();
    Ok(value.unwrap_or_else(|| args.value(2)))
}

fn of_list(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    match args.peek(1) {
        Value::Bool(flag) => operators::index(args.peek(0), &Value::Int(i64::from(*flag))),
        position => operators::index(args.peek(0), position),
    }
}

#[cfg(test)]
mod tests {
    use crate::stdlib::testing::evaluate;

    #[test]
    fn index_may_be_an_integer_of_any_size() {
        for (expression, result) in [
            ("[5, 6][true]", "6"),
            ("[5, 6][-3]", "IndexError"),
            ("[5, 6][100000000000000000000000]", "IndexError"),
            ("{a => 1}[{}.keys()]", "TypeError"),
            ("{a => 1}[{}.keys(), 2]", "TypeError"),
            ("{a => null}[a, default => 3]", "null"),
            ("{a => 1}[]", "NoMatchingFunctionException"),
            ("[1][null]", "NoMatchingFunctionException"),
        ] {
            assert_eq!(evaluate(expression), result, "{expression}");
        }
    }
}
