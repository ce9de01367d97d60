use super::find::{find, shown};
use crate::exit::Outcome;
use crate::remote::{Remote, Shared};

/// Remove a plugin that no cluster uses, with its files
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker plugin remove gridnet==1.0.0
  stoker plugin remove 4 --yes")]
pub(super) struct Args {
    /// Id or name of the plugin
    #[arg(value_name = "PLUGIN")]
    plugin: String,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    #[command(flatten)]
    pub(super) options: Shared,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let plugin = find(remote, &args.plugin)?;
    let name = shown(&plugin);
    crate::remote::confirm(&format!("Remove {name} with its files and graphs?"), args.yes)?;
    remote.delete(format!("plugins/{}", plugin["id"]))?;
    remote.note(&format!("removed {name}"));
    Ok(())
}
