use super::sets;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Concatenates two lists, unites two sets, or merges two maps. If both maps have a key, the value of the right one is used, at the position of the left one. Two other collections yield a lazy concatenation.",
    overloads: &[
        ("f #operator_+(left: iter, right: iter)", collections),
        ("f #operator_+(left: map, right: map)", maps),
    ],
    examples: &[
        ("[1, 2] + [3]", "[1, 2, 3]"),
        ("set(1, 2) + set(2, 3)", "[1, 2, 3]"),
        ("[a] + {b => 1}.keys()", "[\"a\", \"b\"]"),
        ("{a => 1, b => 2} + {c => 3, a => 4}", "{\"a\": 4, \"b\": 2, \"c\": 3}"),
        ("[1] + 2", "NoMatchingFunctionException"),
        ("{a => 1} + null", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn collections(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (left, right) = (args.value(0), args.value(1));
    match (&left, &right) {
        (Value::Tuple(a), Value::Tuple(b)) => {
            cx.check_bytes(left.shallow_size() + right.shallow_size())?;
            let mut items = Vec::with_capacity(a.len() + b.len());
            items.extend_from_slice(a);
            items.extend_from_slice(b);
            cx.tuple(items)
        }
        (Value::Set(a), Value::Set(b)) => {
            cx.check_bytes(left.shallow_size() + right.shallow_size())?;
            sets::union(cx, a, b)
        }
        _ => {
            let (first, second) = (cx.iterate(left)?, cx.iterate(right)?);
            let depth = first.depth().max(second.depth());
            cx.lazy(Both { first: Some(first), second }, depth)
        }
    }
}

fn maps(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    cx.check_bytes(args.peek(0).shallow_size() + args.peek(1).shallow_size())?;
    let (left, right) = (args.map(0), args.map(1));
    let mut builder = left.to_builder();
    builder.extend(&right);
    cx.frozen_dict(builder)
}

struct Both {
    first: Option<LimitedCursor>,
    second: LimitedCursor,
}

impl Lazy for Both {
    fn next(&mut self, cx: &mut Cx<'_>) -> Result<Option<Value>> {
        if let Some(first) = &mut self.first {
            if let Some(item) = first.next(cx)? {
                return Ok(Some(item));
            }
            self.first = None;
        }
        self.second.next(cx)
    }
}
