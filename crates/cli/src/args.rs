//! Command-line grammar: the root command, its global options and the finished help texts.

use clap::builder::styling::{AnsiColor, Style};
use clap::builder::{StyledStr, Styles};
use clap::{ColorChoice, CommandFactory as _, Parser};

use crate::commands::{Command, role_tag, settings};
use crate::remote::Options;
use crate::text::unwrap_paragraphs;

const STYLES: Styles = Styles::styled()
    .header(Style::new().bold())
    .usage(Style::new().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Green.on_default());

#[derive(Debug, Parser)]
#[command(
    name = "stoker",
    version,
    about = "Plan and run deployments on clusters of machines",
    after_help = crate::exit::HELP,
    styles = STYLES,
    disable_help_subcommand = true,
    arg_required_else_help = true,
)]
pub(crate) struct Cli {
    /// When to use colours: `auto`, `always` or `never`
    #[arg(
        long,
        global = true,
        display_order = 100,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(crate) color: ColorChoice,

    #[command(flatten)]
    pub(crate) options: Options,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Returns the complete command tree, with re-flowed help texts and generated examples for nouns.
pub(crate) fn command() -> clap::Command {
    // `backup` and `restore` share the database options of the server, but reject PostgreSQL.
    let hide_url = |command: clap::Command| command.mut_arg("database_url", |arg| arg.hide(true));
    let command = Cli::command()
        .mut_subcommand("backup", hide_url)
        .mut_subcommand("restore", hide_url)
        .mut_subcommand("env", |env| fill_in(env, settings::COMMAND, "stoker env settings"))
        .mut_subcommand("role", |role| fill_in(role, role_tag::NOUN, "role"))
        .mut_subcommand("settings", |settings| fill_in(settings, settings::COMMAND, "stoker settings"))
        .mut_subcommand("tag", |tag| fill_in(tag, role_tag::NOUN, "tag"));
    with_help(command)
}

/// Replaces a placeholder in the help texts of a command, its arguments and its subcommands.
fn fill_in(mut command: clap::Command, placeholder: &str, text: &str) -> clap::Command {
    let filled = |help: &StyledStr| help.to_string().replace(placeholder, text);
    if let Some(about) = command.get_about().map(filled) {
        command = command.about(about);
    }
    if let Some(help) = command.get_after_help().map(filled) {
        command = command.after_help(help);
    }
    command
        .mut_args(|arg| match arg.get_help().map(filled) {
            Some(help) => arg.help(help),
            None => arg,
        })
        .mut_subcommands(|verb| fill_in(verb, placeholder, text))
}

fn with_help(command: clap::Command) -> clap::Command {
    let command = command.mut_subcommands(with_help);
    let mut help = match command.get_after_help() {
        Some(help) => unwrap_paragraphs(&help.to_string()),
        None => examples_of_verbs(&command),
    };
    if let Some(alias) = command.get_visible_aliases().next() {
        help = format!("Alias: `{alias}`\n\n{help}");
    }
    if help.is_empty() { command } else { command.after_help(help) }
}

/// Returns the first example of each verb as the examples of its noun.
fn examples_of_verbs(noun: &clap::Command) -> String {
    let first = |verb: &clap::Command| {
        let help = verb.get_after_help()?.to_string();
        let (_, examples) = help.split_once("Examples:\n")?;
        examples.lines().next().map(|line| format!("\n{line}"))
    };
    let examples: String = noun.get_subcommands().filter_map(first).collect();
    if examples.is_empty() { examples } else { format!("Examples:{examples}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argument_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    /// Nouns must have examples too; they are generated from those of their verbs.
    #[test]
    fn every_command_has_examples() {
        fn check(command: &clap::Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            if path.contains("stoker ") && !path.contains("completions") {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                let exempt = ["openapi", "task-types", "reference", "functions", "bench", "repl"];
                let is_exempt = exempt.iter().any(|name| path.ends_with(name));
                assert!(is_exempt || help.contains("Examples:"), "{path} has no examples");
            }
            command.get_subcommands().for_each(|verb| check(verb, &path));
        }
        check(&command(), "");
    }

    #[test]
    fn shared_help_names_its_command() {
        fn check(command: &mut clap::Command) {
            let help = command.render_help().to_string();
            assert!(!help.contains(role_tag::NOUN) && !help.contains(settings::COMMAND), "{help}");
            command.get_subcommands_mut().for_each(check);
        }
        check(&mut command());
        let help = |path: &[&str]| {
            let verb = path.iter().fold(command(), |noun, name| noun.find_subcommand(name).unwrap().clone());
            verb.clone().render_help().to_string()
        };
        assert!(help(&["tag", "delete"]).contains("stoker tag delete"));
        assert!(help(&["role", "delete"]).contains("stoker role delete"));
        assert!(help(&["settings", "reset"]).contains("  stoker settings reset"));
        assert!(help(&["env", "settings", "reset"]).contains("  stoker env settings reset"));
    }

    /// Help must not contain hard line breaks inside paragraphs: clap wraps them at the width of the terminal.
    #[test]
    fn help_paragraphs_have_no_hard_line_breaks() {
        let mut upload = command();
        for name in ["graph", "upload"] {
            upload = upload.find_subcommand(name).unwrap().clone();
        }
        let help = upload.term_width(80).render_help().to_string();
        let (_, after) = help.split_once("The file is YAML").unwrap();
        let (paragraph, _) = after.split_once("\n\n").unwrap();
        let lines: Vec<&str> = paragraph.lines().collect();
        assert!(lines[..lines.len() - 1].iter().skip(1).all(|line| line.len() > 60), "{paragraph}");
    }
}
