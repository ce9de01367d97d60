use crate::eval::property;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "fallback",
    doc: "Returns a property: `value.name`, for a value that is neither a map nor a collection. Only datetimes and timespans have properties.",
    overloads: &[("f #operator_.(obj: any, name: keyword)", property_of)],
    examples: &[
        ("timespan(minutes => 3).seconds", "180.0"),
        ("5.seconds", "NoMatchingFunctionException"),
        ("5.nothing", "NoFunctionRegisteredException"),
    ],
    purity: Purity::Pure,
};

fn property_of(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let receiver = args.value(0);
    let name = args.text(1);
    property(cx, receiver, &name, args.ctx)
}
