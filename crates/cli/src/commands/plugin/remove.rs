use stoker_api_types::plugins::PluginView;

use super::find::{display_name, find};
use crate::exit::Outcome;
use crate::remote::{Remote, SharedOptions, typed};

/// Uninstall a plugin that no cluster uses
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker plugin remove gridnet==1.0.0
  stoker plugin remove 4 --yes")]
pub(super) struct Args {
    /// Plugin ID, name (newest version) or `NAME==VERSION`
    #[arg(value_name = "PLUGIN")]
    plugin: String,

    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,

    #[command(flatten)]
    pub(super) options: SharedOptions,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let plugin: PluginView = typed(&find(remote, &args.plugin)?)?;
    let name = display_name(&plugin);
    crate::remote::confirm(&format!("Remove {name}, including its files and graphs?"), args.yes)?;
    remote.delete(format!("plugins/{}", plugin.id))?;
    remote.note(&format!("removed {name}"));
    Ok(())
}
