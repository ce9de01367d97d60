//! Test helpers.

use crate::eval::{Engine, Input, Options};
use crate::json::{WriteOptions, write};

/// Evaluates an expression and returns the result as JSON, or the error class.
pub(super) fn evaluate(expression: &str) -> String {
    let options = Options::default();
    let result = Engine::default().compile(expression).and_then(|expression| {
        let value = expression.run(Input { options: &options, ..Input::default() })?;
        write(&value, &WriteOptions { ascii: false, ..WriteOptions::default() })
    });
    result.unwrap_or_else(|error| error.class.name().to_owned())
}
