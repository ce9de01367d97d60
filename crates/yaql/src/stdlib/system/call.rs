use crate::pytext::is_letter_start;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "system",
    doc: "Calls a function by name with a sequence of positional arguments and a map of named arguments; with a receiver, calls a method. The arguments are values: where a parameter takes an expression, every evaluation returns that value.",
    overloads: &[("f call(name: string, args: seq, kwargs: map, receiver: any = none)", call)],
    examples: &[
        ("call(min, [4, 2], {})", "2"),
        ("call(split, ['-'], {maxSplits => 1}, 'a-b-c')", r#"["a", "b-c"]"#),
        ("call('#operator_-', [9, 2], {})", "7"),
        ("call(min, [4], {})", "NoMatchingFunctionException"),
        ("call(nothing, [], {})", "NoFunctionRegisteredException"),
        ("call(min, [4, 2], {'1' => 1})", "RuntimeError"),
    ],
    purity: Purity::Pure,
};

/// Reports whether a text starts like an argument name.
fn is_keyword(text: &str) -> bool {
    !text.starts_with("__") && text.chars().next().is_some_and(is_letter_start)
}

fn call(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let name = args.text(0);
    let values = args.seq(1).to_vec();
    let arguments = args.map(2);
    let mut named_values = Vec::new();
    for (key, value) in arguments.iter() {
        let Value::Str(key) = key else {
            return Err(Box::new(
                Error::kind("expected string or bytes-like object, got 'int'")
                    .help("argument names must be strings"),
            ));
        };
        if !is_keyword(key) {
            // Python YAQL tries to drop such a name while iterating, which fails.
            let error = Error::new(ErrorClass::Runtime, "dictionary changed size during iteration");
            return Err(Box::new(error.help(format!("`{key}` is not a valid argument name"))));
        }
        named_values.push((Box::from(&**key), value.clone()));
    }
    let receiver = args.optional(3);
    cx.call_by_name(&name, receiver, values, named_values, args.ctx)
}
