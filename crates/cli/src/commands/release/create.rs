use std::path::PathBuf;

use stoker_client::{Method, RestRequest};

use crate::exit::Outcome;
use crate::input::read_text;
use crate::remote::Remote;

/// Create a release from a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The document is YAML or JSON with `name`, `version` and `operating_system`, and optionally `roles_metadata`,
`attributes_metadata`, `deployment_tasks`, `graphs` and the other fields of `stoker release show --output yaml`. All
problems in the document are reported together.

Examples:
  stoker release create --file release.yaml
  stoker release create --file - < release.json")]
pub(super) struct Args {
    /// Release document; `-` for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let text = read_text(&args.file)?;
    let release = remote.upload(RestRequest::new(Method::Post, "releases"), &text)?;
    remote.note_warnings(&release);
    remote.report_change("created release", &release)
}
