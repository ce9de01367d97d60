//! Text of an error with its causes.

use std::error::Error;
use std::fmt;

/// Displays an error and its sources, separated by colons. A source that repeats the text of the error that it caused
/// is shown once.
pub struct ErrorChain<'e>(pub &'e dyn Error);

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.0.to_string();
        f.write_str(&text)?;
        let mut source = self.0.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !text.ends_with(&cause_text) {
                write!(f, ": {cause_text}")?;
            }
            text = cause_text;
            source = cause.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
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
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    fn chain(texts: &[&'static str]) -> Layer {
        Layer(texts[0], (texts.len() > 1).then(|| Box::new(chain(&texts[1..]))))
    }

    #[test]
    fn causes_follow_the_error() {
        let shown = |texts: &[&'static str]| ErrorChain(&chain(texts)).to_string();
        assert_eq!(shown(&["cannot join"]), "cannot join");
        assert_eq!(
            shown(&["cannot join", "cannot connect", "refused"]),
            "cannot join: cannot connect: refused"
        );
        assert_eq!(shown(&["cannot join: refused", "refused", "code 1"]), "cannot join: refused: code 1");
    }
}
