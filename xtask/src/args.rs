//! Command-line arguments, removed one by one as they are parsed; those that remain are unknown.

use crate::failure::{Failure, Outcome};

pub(crate) struct Args {
    rest: Vec<String>,
}

impl Args {
    pub(crate) fn new(rest: impl IntoIterator<Item = String>) -> Self {
        Self { rest: rest.into_iter().collect() }
    }

    /// Removes `--name` and returns whether it was present.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.rest.len();
        self.rest.retain(|arg| arg != name);
        self.rest.len() != before
    }

    /// Removes `--name VALUE` or `--name=VALUE` and returns the value.
    pub(crate) fn option(&mut self, name: &str) -> Outcome<Option<String>> {
        let with_equals = format!("{name}=");
        let Some(at) = self.rest.iter().position(|arg| arg == name || arg.starts_with(&with_equals)) else {
            return Ok(None);
        };
        let arg = self.rest.remove(at);
        if let Some(value) = arg.strip_prefix(&with_equals) {
            return Ok(Some(value.to_owned()));
        }
        if at >= self.rest.len() || self.rest[at].starts_with("--") {
            return Err(Failure::new(format!("`{name}` needs a value")));
        }
        Ok(Some(self.rest.remove(at)))
    }

    /// Removes an option whose value is an integer.
    pub(crate) fn number(&mut self, name: &str) -> Outcome<Option<u64>> {
        let Some(value) = self.option(name)? else { return Ok(None) };
        match value.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(Failure::new(format!("`{name}` needs an integer, not `{value}`"))),
        }
    }

    /// Removes and returns the next argument that is not an option.
    pub(crate) fn positional(&mut self) -> Option<String> {
        let at = self.rest.iter().position(|arg| !arg.starts_with("--"))?;
        Some(self.rest.remove(at))
    }

    /// Fails if an argument remains that no command has removed.
    pub(crate) fn finish(self) -> Outcome {
        match self.rest.first() {
            None => Ok(()),
            Some(arg) => {
                Err(Failure::new(format!("`{arg}` is not an argument of this command; see `--help`")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Args {
        Args::new(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn option_value_follows_space_or_equals_sign() {
        for line in ["--only fmt rest", "rest --only=fmt"] {
            let mut args = args(line);
            assert_eq!(args.option("--only").unwrap().as_deref(), Some("fmt"));
            assert_eq!(args.positional().as_deref(), Some("rest"));
            args.finish().unwrap();
        }
    }

    #[test]
    fn invalid_arguments_are_named() {
        assert_eq!(args("--only").option("--only").unwrap_err().to_string(), "`--only` needs a value");
        assert_eq!(
            args("--fuzz-seconds soon").number("--fuzz-seconds").unwrap_err().to_string(),
            "`--fuzz-seconds` needs an integer, not `soon`"
        );
        assert!(args("--lsit").finish().unwrap_err().to_string().contains("`--lsit`"));
    }

    #[test]
    fn repeated_flag_is_removed() {
        let mut args = args("--list --list");
        assert!(args.flag("--list"));
        assert!(!args.flag("--list"));
    }
}
