//! What can be typed after `stoker`.

use clap::builder::Styles;
use clap::builder::styling::{AnsiColor, Style};
use clap::{ColorChoice, Parser};

use crate::commands::Command;

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

    #[command(subcommand)]
    pub(crate) command: Command,
}
