use crate::eval::operators;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "`map[key]`, `map[key, default]` or `list[position]`. A key that the map lacks is a KeyError unless a default is given; positions count from 0, negative ones from the end, and one beyond either end is an IndexError. Only maps and lists have an index: not strings, sets or anything lazy, which `toList()` helps with.",
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
    let found = map.get(args.peek(1))?.cloned();
    Ok(found.unwrap_or_else(|| args.value(2)))
}

fn of_list(_: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    match args.peek(1) {
        Value::Bool(flag) => operators::index(args.peek(0), &Value::Int(i64::from(*flag))),
        position => operators::index(args.peek(0), position),
    }
}

#[cfg(test)]
mod tests {
    use crate::stdlib::testing::answer;

    #[test]
    fn an_index_is_an_integer_of_any_size() {
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
            assert_eq!(answer(expression), result, "{expression}");
        }
    }
}
