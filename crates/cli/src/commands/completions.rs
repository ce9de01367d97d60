//! `stoker completions`: shell completion scripts.

use clap_complete::Shell;

use crate::exit::Outcome;
use crate::printer::Printer;

/// Print a shell completion script
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker completions bash > ~/.local/share/bash-completion/completions/stoker
  stoker completions zsh > ~/.zfunc/_stoker
  stoker completions fish > ~/.config/fish/completions/stoker.fish")]
pub(crate) struct Args {
    /// Shell to generate the script for
    #[arg(value_name = "SHELL", value_parser = clap::builder::PossibleValuesParser::new(["bash", "fish", "zsh"]))]
    shell: String,
}

pub(crate) fn run(args: &Args, mut grammar: clap::Command, printer: &mut Printer) -> Outcome {
    let shell = match args.shell.as_str() {
        "fish" => Shell::Fish,
        "zsh" => Shell::Zsh,
        _ => Shell::Bash,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut grammar, "stoker", &mut script);
    printer.data(&String::from_utf8_lossy(&script))?;
    Ok(())
}
