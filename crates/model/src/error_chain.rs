//! Errors with their causes as one line of text.

use std::error::Error;
use std::fmt::Write as _;

/// The message of an error and of each of its sources, from the outermost to the root cause: `a: b: c`. A source whose
/// message the text already contains is not repeated: many errors include it in their own message.
pub fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let message = cause.to_string();
        if !text.contains(&message) {
            _ = write!(text, ": {message}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Layer>>);

    impl fmt::Display for Layer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Layer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|source| source as _)
        }
    }

    fn chain(messages: &[&'static str]) -> String {
        let layers =
            messages.iter().rev().fold(None, |source, message| Some(Box::new(Layer(message, source))));
        layers.map(|error| error_chain(&*error)).unwrap_or_default()
    }

    #[test]
    fn causes_follow_the_message() {
        assert_eq!(chain(&["cannot read `a`"]), "cannot read `a`");
        assert_eq!(
            chain(&["cannot read `a`", "no such file", "root"]),
            "cannot read `a`: no such file: root"
        );
    }

    #[test]
    fn repeated_causes_are_shown_once() {
        assert_eq!(chain(&["connect: refused", "refused"]), "connect: refused");
        assert_eq!(chain(&["a: b: c", "b: c", "c"]), "a: b: c");
    }
}
