//! What begins with a colon.

use std::fmt::Write as _;
use std::path::PathBuf;

use stoker_yaql::eval::suggest::closest;

use crate::diagnostic::Diagnostic;
use crate::exit::{Exit, Failure, Outcome};
use crate::input::is_name;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Data(PathBuf),
    Set(String, String),
    Explain(String),
    Reads(String),
    Doc(String),
    Quit,
}

/// Names and what to say about them, in the order of `:help`.
pub(super) const COMMANDS: &[(&str, &str, &str)] = &[
    (":data", "FILE", "read another document as `$`"),
    (":doc", "NAME", "tell about a function"),
    (":explain", "EXPRESSION", "show what every part was"),
    (":help", "", "show this"),
    (":quit", "", "leave; Ctrl-D does too"),
    (":reads", "EXPRESSION", "show what the expression may read"),
    (":set", "NAME EXPRESSION", "give a variable a value"),
];

pub(super) fn parse(text: &str) -> Outcome<Command> {
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let command = match name {
        ":help" | ":h" | ":?" => return Ok(Command::Help),
        ":quit" | ":q" | ":exit" => return Ok(Command::Quit),
        _ if rest.is_empty() => None,
        ":data" => Some(Command::Data(rest.into())),
        ":doc" => Some(Command::Doc(rest.to_owned())),
        ":explain" => Some(Command::Explain(rest.to_owned())),
        ":reads" => Some(Command::Reads(rest.to_owned())),
        ":set" => {
            let (name, expression) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let name = name.strip_prefix('$').unwrap_or(name);
            let is_complete = is_name(name) && !expression.trim().is_empty();
            is_complete.then(|| Command::Set(name.to_owned(), expression.trim().to_owned()))
        }
        _ => None,
    };
    command.ok_or_else(|| Failure::new(Exit::Failed, complaint(name)))
}

fn complaint(name: &str) -> Diagnostic {
    if let Some((name, arguments, _)) = COMMANDS.iter().find(|(known, ..)| *known == name) {
        return Diagnostic::error(format!("write `{name} {arguments}`"));
    }
    let bare = name.trim_start_matches(':');
    let help = match closest(bare, COMMANDS.iter().map(|(known, ..)| known.trim_start_matches(':'))) {
        Some(best) => format!("did you mean `:{best}`?"),
        None => "`:help` lists what there is".to_owned(),
    };
    Diagnostic::error(format!("there is no command `{name}`")).help(Some(help))
}

pub(super) fn help() -> String {
    let mut out = "An expression is evaluated; `$` is the data, `$_` the last result.\n\n".to_owned();
    for (name, arguments, about) in COMMANDS {
        _ = writeln!(out, "  {:<22}  {about}", format!("{name} {arguments}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_with_their_arguments() {
        assert_eq!(parse(":q").unwrap(), Command::Quit);
        assert_eq!(parse(":set $x 1 + 2").unwrap(), Command::Set("x".into(), "1 + 2".into()));
        assert_eq!(parse(":data  a b.yaml").unwrap(), Command::Data("a b.yaml".into()));
    }

    #[test]
    fn wrong_commands_are_explained() {
        let message = |text: &str| parse(text).unwrap_err().diagnostics[0].message.clone();
        assert_eq!(message(":data"), "write `:data FILE`");
        assert_eq!(message(":set x"), "write `:set NAME EXPRESSION`");
        assert_eq!(message(":set x-y 1"), "write `:set NAME EXPRESSION`");
        assert_eq!(message(":hlep"), "there is no command `:hlep`");
        assert_eq!(parse(":hlep").unwrap_err().diagnostics[0].help.as_deref(), Some("did you mean `:help`?"));
    }
}
