//! What can be typed after `stoker`.

use clap::builder::Styles;
use clap::builder::styling::{AnsiColor, Style};
use clap::{ColorChoice, Parser};

use crate::commands::Command;
use crate::remote::Options;

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
    /// When to use colours
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn arguments_fit_together() {
        Cli::command().debug_assert();
    }

    /// What can be done is told with an example; nouns alone tell their verbs.
    #[test]
    fn every_verb_has_examples() {
        fn check(command: &clap::Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            if command.get_subcommands().next().is_none() && !path.contains("completions") {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                let exempt = ["openapi", "task-types", "reference", "functions", "bench", "repl"];
                let is_exempt = exempt.iter().any(|name| path.ends_with(name));
                assert!(is_exempt || help.contains("Examples:"), "{path} has no examples");
            }
            command.get_subcommands().for_each(|verb| check(verb, &path));
        }
        check(&Cli::command(), "");
    }
}
