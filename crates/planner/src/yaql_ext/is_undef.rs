use stoker_yaql::Value;
use stoker_yaql::library::{Builtin, Purity};

use super::undefined::is_undefined;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "state",
    doc: "Whether the value is undefined: the result of `old` for an expression without an old value.",
    overloads: &[("fm isUndef(value: any)", |_, args| Ok(Value::Bool(is_undefined(args.peek(0)))))],
    examples: &[("1.isUndef()", "false"), ("null.isUndef()", "false")],
    purity: Purity::Pure,
};
