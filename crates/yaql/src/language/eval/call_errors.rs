//! Errors of calls, with suggestions.

use super::resolve::Failure;
use super::{Ctx, Cx, suggest};
use crate::error::{Error, ErrorClass};
use crate::value::Value;

impl Cx<'_> {
    /// Returns the error of a call that overload resolution rejects. `receiver` is set for methods.
    pub(super) fn failure(&self, failure: Failure, name: &str, receiver: Option<&Value>) -> Box<Error> {
        let class = failure.class(receiver.is_some());
        let receiver_text = match receiver.map(Value::to_message_text).transpose() {
            Ok(receiver_text) => receiver_text.unwrap_or_default(),
            Err(error) => return error,
        };
        let message = match class {
            ErrorClass::NoMatchingMethod => {
                format!("No method \"{name}\" for receiver {receiver_text} matches supplied arguments")
            }
            ErrorClass::AmbiguousFunction => format!("Ambiguous function \"{name}\""),
            ErrorClass::AmbiguousMethod => {
                format!("Ambiguous method \"{name}\" for receiver {receiver_text}")
            }
            ErrorClass::MappingTranslation => "Cannot convert mapping to keyword argument".to_owned(),
            _ => format!("No function \"{name}\" matches supplied arguments"),
        };
        let mut error = Error::new(class, message);
        error.help = suggest::signatures(&self.library, name, receiver.is_some(), failure);
        Box::new(error)
    }

    pub(super) fn unknown_function(&self, name: &str, ctx: &Ctx) -> Box<Error> {
        let message = format!("Unknown function \"{name}\"");
        let mut error = Error::new(ErrorClass::NoFunction, message);
        error.help = suggest::function(&self.library, name, &ctx.function_names());
        Box::new(error)
    }

    pub(crate) fn unknown_method(&self, name: &str, receiver: &Value) -> Box<Error> {
        let message = match receiver.to_message_text() {
            Ok(receiver_text) => format!("Unknown method \"{name}\" for receiver {receiver_text}"),
            Err(error) => return error,
        };
        let mut error = Error::new(ErrorClass::NoMethod, message);
        error.help = suggest::method(&self.library, name);
        Box::new(error)
    }
}
