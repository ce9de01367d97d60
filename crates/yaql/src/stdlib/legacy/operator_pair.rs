use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "legacy",
    doc: "Creates a tuple: `a => b`. A chain without parentheses creates one flat tuple.",
    overloads: &[("f #operator_=>(left: expr, right: any)", pair)],
    examples: &[
        ("a => 1", r#"{"$yaql": "tuple", "items": ["a", 1]}"#),
        ("1 => 2 => 3", r#"{"$yaql": "tuple", "items": [1, 2, 3]}"#),
    ],
    purity: Purity::Pure,
};

fn pair(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let right = args.value(1);
    let Some((program, node)) = args.expression(0) else { return Ok(Value::Null) };
    let left = cx.eval(&program, node, args.ctx)?;
    let is_chain =
        matches!(program.tree.node(node), crate::syntax::Node::Binary(crate::syntax::BinaryOp::Pair, ..));
    let mut items = match &left {
        Value::Tuple(seq) if is_chain => seq.to_vec(),
        _ => vec![left],
    };
    items.push(right);
    cx.tuple(items)
}
