//! Colon commands of the REPL.

use std::fmt::Write as _;
use std::path::PathBuf;

use stoker_diagnostics::Diagnostic;
use stoker_yaql::eval::suggest::closest_name;

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

/// Name, arguments and description of each command, in the order of `:help`.
pub(super) const COMMANDS: &[(&str, &str, &str)] = &[
    (":data", "FILE", "load a document as `$`"),
    (":doc", "NAME", "describe a function"),
    (":explain", "EXPRESSION", "show the value of each subexpression"),
    (":help", "", "show this help"),
    (":quit", "", "exit; Ctrl-D works too"),
    (":reads", "EXPRESSION", "show the paths that the expression may read"),
    (":set", "NAME EXPRESSION", "set a variable"),
];

pub(super) fn parse(text: &str) -> Outcome<Command> {
    let (name, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let arguments = arguments.trim();
    let command = match name {
        ":help" | ":h" | ":?" => return Ok(Command::Help),
        ":quit" | ":q" | ":exit" => return Ok(Command::Quit),
        _ if arguments.is_empty() => None,
        ":data" => Some(Command::Data(arguments.into())),
        ":doc" => Some(Command::Doc(arguments.to_owned())),
        ":explain" => Some(Command::Explain(arguments.to_owned())),
        ":reads" => Some(Command::Reads(arguments.to_owned())),
        ":set" => {
            let (name, expression) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
            let name = name.strip_prefix('$').unwrap_or(name);
            let is_complete = is_name(name) && !expression.trim().is_empty();
            is_complete.then(|| Command::Set(name.to_owned(), expression.trim().to_owned()))
        }
        _ => None,
    };
    command.ok_or_else(|| Failure::new(Exit::Failed, invalid_command(name)))
}

fn invalid_command(name: &str) -> Diagnostic {
    if let Some((name, arguments, _)) = COMMANDS.iter().find(|(command, ..)| *command == name) {
        return Diagnostic::plain(format!("usage: `{name} {arguments}`"));
    }
    let bare = name.trim_start_matches(':');
    let help = match closest_name(bare, COMMANDS.iter().map(|(command, ..)| command.trim_start_matches(':')))
    {
        Some(best) => format!("did you mean `:{best}`?"),
        None => "enter `:help` to list all commands".to_owned(),
    };
    Diagnostic::plain(format!("unknown command `{name}`")).help(help)
}

pub(super) fn help() -> String {
    let mut out =
        "Enter an expression to evaluate it; `$` is the loaded document, `$_` the previous result.\n\n"
            .to_owned();
    for (name, arguments, about) in COMMANDS {
        _ = writeln!(out, "  {:<22}  {about}", format!("{name} {arguments}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_parsed_with_their_arguments() {
        assert_eq!(parse(":q").unwrap(), Command::Quit);
        assert_eq!(parse(":set $x 1 + 2").unwrap(), Command::Set("x".into(), "1 + 2".into()));
        assert_eq!(parse(":data  a b.yaml").unwrap(), Command::Data("a b.yaml".into()));
    }

    #[test]
    fn invalid_commands_are_reported() {
        let message = |text: &str| parse(text).unwrap_err().diagnostics[0].message.clone();
        assert_eq!(message(":data"), "usage: `:data FILE`");
        assert_eq!(message(":set x"), "usage: `:set NAME EXPRESSION`");
        assert_eq!(message(":set x-y 1"), "usage: `:set NAME EXPRESSION`");
        assert_eq!(message(":hlep"), "unknown command `:hlep`");
        assert_eq!(parse(":hlep").unwrap_err().diagnostics[0].help.as_deref(), Some("did you mean `:help`?"));
    }
}
