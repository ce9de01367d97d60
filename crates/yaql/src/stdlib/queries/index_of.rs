use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the position of the first element that equals the item, or -1.",
    overloads: &[("m indexOf(collection: iter, item: any)", index_of)],
    examples: &[
        ("[5, 6, 5].indexOf(6)", "1"),
        ("[a, b].indexOf(z)", "-1"),
        ("[true, 1].indexOf(1.0)", "0"),
        ("sequence(10).indexOf(12)", "2"),
        ("{a => 1}.indexOf(a)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn index_of(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut source = cx.iterate(args.value(0))?;
    let target = args.value(1);
    let mut index = 0;
    while let Some(item) = source.next(cx)? {
        if item.equals(&target) {
            return Ok(Value::Int(index));
        }
        index += 1;
    }
    Ok(Value::Int(-1))
}
