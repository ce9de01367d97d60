//! Developer commands of the repository: `cargo xtask <command>`.
//!
//! One module per command, one line in [`COMMANDS`]. The crate has few dependencies, because it is compiled before
//! anything else.

#![expect(clippy::print_stdout, reason = "a command-line tool prints to standard output")]
#![expect(clippy::disallowed_methods, reason = "reading clocks and the environment is this tool's job")]

mod args;
mod bench;
mod book;
mod cluster_demo;
mod codegen;
mod command;
mod demo;
mod dist;
mod failure;
mod process;
mod sim;
mod terminal;
mod test;
mod tidy;
mod tools;
mod ui;
mod workspace;

use std::process::ExitCode;

use args::Args;
use command::Command;
use failure::{Failure, Outcome};
use terminal::{Style, paint};

const COMMANDS: &[Command] = &[
    // sorted
    bench::COMMAND,
    book::COMMAND,
    cluster_demo::COMMAND,
    codegen::COMMAND,
    demo::COMMAND,
    dist::COMMAND,
    sim::COMMAND,
    test::COMMAND,
    tidy::COMMAND,
    ui::COMMAND,
    // end sorted
];

fn main() -> ExitCode {
    match dispatch(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{} {failure}", paint(Style::Bad, "error:"));
            ExitCode::FAILURE
        }
    }
}

fn dispatch(mut words: Vec<String>) -> Outcome {
    let is_help = words.iter().any(|word| word == "--help" || word == "-h");
    if words.is_empty() || words[0] == "help" || words[0].starts_with('-') {
        print!("{}", overview());
        return if words.is_empty() || is_help || words[0] == "help" {
            Ok(())
        } else {
            Err(Failure::new(format!("expected a command before `{}`", words[0])))
        };
    }
    let name = words.remove(0);
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(Failure::new(format!("no command `{name}`; run `cargo xtask` to list the commands")));
    };
    if is_help {
        print!("{}", command.help);
        return Ok(());
    }
    (command.run)(Args::new(words))
}

fn overview() -> String {
    let lines = COMMANDS.iter().map(|command| format!("  {:<12} {}\n", command.name, command.about));
    format!("Usage: cargo xtask <command> [--help]\n\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_help() {
        for command in COMMANDS {
            let usage = format!("Usage: cargo xtask {}", command.name);
            assert!(command.help.starts_with(&usage), "help of `{}`", command.name);
            assert!(overview().contains(command.about));
        }
    }

    #[test]
    fn unknown_command_is_named() {
        let error = dispatch(vec!["tset".into()]).unwrap_err();
        assert!(error.to_string().contains("`tset`"), "{error}");
    }
}
