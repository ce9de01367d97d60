//! Parameters of `shell`.

use stoker_model::Json;

use crate::outcome::Failure;
use crate::parameter::{Parameter, ParameterType};
use crate::values::Values;

pub(in crate::types) const PARAMETERS: &[Parameter] = &[
    Parameter::required("cmd", ParameterType::Text, "Command or multi-line script."),
    Parameter::cwd(),
    Parameter::optional(
        "env",
        ParameterType::Map,
        "Environment variables to add; strings, numbers and booleans.",
    ),
    Parameter::timeout("300"),
    Parameter::retries("2"),
    Parameter::interval(),
];

#[derive(Debug, PartialEq)]
pub(in crate::types) struct Spec {
    pub(in crate::types) cmd: String,
    pub(in crate::types) cwd: String,
    pub(in crate::types) env: Vec<(String, String)>,
}

impl Spec {
    pub(in crate::types) fn read(values: &Values) -> Result<Self, Failure> {
        let variables = values.json("env").and_then(|env| env.as_object()).into_iter().flatten();
        // A computed parameter evaluates to `null` when it is absent.
        let variables: Vec<_> = variables.filter(|(_, value)| !value.is_null()).collect();
        let problems: Vec<String> =
            variables.iter().filter_map(|(name, value)| invalid_variable(name, value)).collect();
        if !problems.is_empty() {
            return Err(Failure::refused(problems.join("; ")));
        }
        let env = variables.into_iter().map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), text)
        });
        Ok(Self { cmd: values.text("cmd"), cwd: values.text("cwd"), env: env.collect() })
    }
}

/// Returns the reason why a variable is invalid. Never includes the value, which may be a secret.
fn invalid_variable(name: &str, value: &Json) -> Option<String> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Some(format!("`env` contains the invalid variable name `{}`", name.escape_debug()));
    }
    let is_plain = value.is_string() || value.is_number() || value.is_boolean();
    (!is_plain).then(|| format!("`env.{name}` must be a string, a number or a boolean"))
}

/// Splits a command that needs no shell: an absolute path and plain arguments. Quotes, variables, patterns
/// and operators require a shell.
pub(in crate::types) fn plain_words(cmd: &str) -> Option<Vec<String>> {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '/' | '.' | '_' | '-' | ':' | ',' | '+' | '@' | '%' | '=' | ' ')
    };
    let cmd = cmd.trim();
    (cmd.starts_with('/') && cmd.chars().all(is_plain))
        .then(|| cmd.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_commands_bypass_the_shell() {
        assert_eq!(
            plain_words(" /bin/echo  a=b -x "),
            Some(vec!["/bin/echo".into(), "a=b".into(), "-x".into()])
        );
        for cmd in [
            "echo a",
            "/bin/a; b",
            "/bin/a $X",
            "/bin/a *",
            "/bin/a 'b'",
            "/bin/a\nb",
            "/bin/a ~",
            "/bin/a #b",
        ] {
            assert_eq!(plain_words(cmd), None, "{cmd}");
        }
    }
}
