use std::path::PathBuf;

use stoker_client::{Method, RestRequest};

use crate::exit::Outcome;
use crate::input::read_text;
use crate::remote::Remote;

/// Update a release from a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Fields that the document omits are unchanged. Graphs in the document replace the graphs of the release. Clusters of the
release use the new roles and graphs in their next plan. All problems in the document are reported together.

Examples:
  stoker release update 1 --file release.yaml")]
pub(super) struct Args {
    /// Release ID
    #[arg(value_name = "RELEASE")]
    release: i64,

    /// Release document; `-` for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let text = read_text(&args.file)?;
    let release =
        remote.upload(RestRequest::new(Method::Put, format!("releases/{}", args.release)), &text)?;
    remote.note_warnings(&release);
    remote.report_change("updated release", &release)
}
