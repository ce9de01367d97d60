//! For tests of functions.

use crate::eval::{Engine, Input, Options};
use crate::json::{WriteOptions, write};

/// The result of an expression as JSON, or the class of the error.
pub(super) fn answer(expression: &str) -> String {
    let options = Options::default();
    let result = Engine::default().compile(expression).and_then(|expression| {
        let value = expression.run(Input { options: &options, ..Input::default() })?;
        write(&value, &WriteOptions { ascii: false, ..WriteOptions::default() })
    });
    result.unwrap_or_else(|error| error.class.name().to_owned())
}
