use smallvec::SmallVec;

use super::pairs;
use crate::stdlib::prelude::*;
use crate::syntax::VarName;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "legacy",
    doc: "Returns a context with one variable per `expression => name` argument; expressions are evaluated with `$` bound to the receiver. A method call after the dot is applied to the receiver, in that context.",
    overloads: &[("m as(receiver: any, mappings: lambda...) pairs", as_)],
    examples: &[
        ("[4, 5].as(sum($) => s) -> $s", "9"),
        ("[4, 5].as(len($) => n).select($ * $n)", "[8, 10]"),
        ("[4, 5].as(7)", "ValueError"),
    ],
    purity: Purity::Pure,
};

fn as_(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let receiver = args.value(0);
    let inner = args.ctx.with_first(receiver.clone())?;
    let mut vars: SmallVec<[(VarName, Value); 1]> = SmallVec::new();
    for mapping in args.rest_args() {
        let (value, name) = pairs::evaluate(cx, args.program, &mapping, &inner, "as")?;
        let Value::Str(name) = name else {
            let message = format!("'{}' object has no attribute 'startswith'", name.type_name());
            return Err(Box::new(Error::new(ErrorClass::Attribute, message)));
        };
        vars.push((VarName::new(name.strip_prefix('$').unwrap_or(&name)), value));
    }
    vars.push((VarName::new("0"), receiver));
    Ok(Value::Context(args.ctx.with_vars(vars)?))
}
