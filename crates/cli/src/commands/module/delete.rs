use super::find::module_path;
use crate::exit::Outcome;
use crate::remote::Remote;

/// Delete a module, without removing it from nodes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker module delete licence
  stoker module delete licence --yes")]
pub(super) struct Args {
    /// Module ID or name
    #[arg(value_name = "MODULE")]
    module: String,

    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let path = module_path(remote, &args.module)?;
    crate::remote::confirm(&format!("Delete module {}?", args.module), args.yes)?;
    remote.delete(path)?;
    remote.note(&format!("deleted module {}", args.module));
    Ok(())
}
