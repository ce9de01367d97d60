use std::path::PathBuf;

use stoker_client::{Method, Request};

use crate::exit::Outcome;
use crate::input::read_text;
use crate::remote::Remote;

/// Make a release of a document
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The document is YAML or JSON with `name`, `version` and `operating_system`, and whatever else a release has:
`roles_metadata`, `attributes_metadata`, `deployment_tasks`, `graphs`, … All its mistakes are told at once.

Examples:
  stoker release create --file release.yaml
  stoker release create --file - < release.json")]
pub(super) struct Args {
    /// The document; `-` is standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let text = read_text(&args.file)?;
    let release = remote.upload(Request::new(Method::Post, "releases"), &text)?;
    remote.made("made release", &release)
}
