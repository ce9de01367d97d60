use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "branching",
    doc: "Returns the value of the first `condition => value` argument whose condition is true, or null if none is. Conditions are evaluated in order until one is true; only its value is evaluated.",
    overloads: &[("f switch(args: lazy-pair...) pairs", switch)],
    examples: &[
        ("[80, 8080].where(switch($ < 1024 => false, true => true))", "[8080]"),
        ("switch(3 > 4 => low, 3 > 2 => high)", "\"high\""),
        ("switch(null => 1)", "null"),
        ("switch(true => 1 / 0)", "ZeroDivisionError"),
        ("switch(true)", "NoMatchingFunctionException"),
    ],
    purity: Purity::Pure,
};

fn switch(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    for (condition, value) in args.rest_lazy_pairs() {
        if cx.test(args.program, condition, args.ctx)? {
            return cx.eval(args.program, value, args.ctx);
        }
    }
    Ok(Value::Null)
}
