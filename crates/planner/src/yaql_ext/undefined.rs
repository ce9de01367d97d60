//! The undefined value: the result of `old` for an expression without an old value.

use std::sync::{Arc, LazyLock};

use stoker_yaql::Value;
use stoker_yaql::value::Opaque;

#[derive(Debug)]
struct Undefined;

impl Opaque for Undefined {
    fn type_name(&self) -> &'static str {
        "undefined"
    }
}

/// A single instance, so that it is equal to itself.
static UNDEFINED: LazyLock<Value> = LazyLock::new(|| Value::Opaque(Arc::new(Undefined)));

pub(crate) fn undefined() -> Value {
    UNDEFINED.clone()
}

pub(crate) fn is_undefined(value: &Value) -> bool {
    let Value::Opaque(opaque) = value else { return false };
    let any: &dyn std::any::Any = &**opaque;
    any.is::<Undefined>()
}
