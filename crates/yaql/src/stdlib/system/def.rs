use std::sync::Arc;

use crate::eval::DefinedFunction;
use crate::pytext::camel_case;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "system",
    doc: "Returns a context that defines a function, for the expression after `->`. In the body, positional arguments are `$1`, `$2`, … and named arguments `$name`; the body can refer to the surrounding variables and to the function itself. The name is converted to camelCase. Methods cannot be defined.",
    overloads: &[("f def(name: string, func: lambda)", def)],
    examples: &[
        ("def(half, $ / 2) -> [8, 6].select(half($))", "[4, 3]"),
        ("def(area, $w * $h) -> area(w => 3, h => 5)", "15"),
        ("def(count, switch($ = 0 => 0, true => 1 + count($ - 1))) -> count(9)", "9"),
        ("def(node_name, n) -> nodeName()", "\"n\""),
        ("def(f, 1) -> 5.f()", "NoMethodRegisteredException"),
    ],
    purity: Purity::Pure,
};

fn def(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let name: Arc<str> = function_name(args.str(0)).into();
    let body = args.lambda(1);
    let (program, body) = match body.expression() {
        Some((program, node)) => (program.clone(), node),
        None => cx.constant_program(body.constant().cloned().unwrap_or_default()),
    };
    cx.register_definition(&name);
    Ok(Value::Context(args.ctx.with_function(DefinedFunction { name, program, body })?))
}

/// Returns the name under which a function is registered: camelCase, except for the prefix of a special name.
fn function_name(name: &str) -> String {
    let name = name.trim_end_matches('_');
    let mut letters = name.chars();
    match letters.next() {
        Some(mark) if !mark.is_alphabetic() => match name[mark.len_utf8()..].find(mark) {
            Some(at) if at > 0 => {
                let end = mark.len_utf8() + at + mark.len_utf8();
                format!("{}{}", &name[..end], camel_case(&name[end..]))
            }
            _ => name.to_owned(),
        },
        _ => camel_case(name).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::function_name;

    #[test]
    fn names_are_registered_in_camel_case() {
        for (name, registered) in [
            ("node_name", "nodeName"),
            ("plain_", "plain"),
            ("#operator_+", "#operator_+"),
            ("#property#host_name", "#property#hostName"),
            ("*equal", "*equal"),
            ("", ""),
        ] {
            assert_eq!(function_name(name), registered, "{name}");
        }
    }
}
