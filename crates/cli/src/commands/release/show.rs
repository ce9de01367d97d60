use serde_json::json;
use stoker_api_types::releases::{Attributes, ReleaseView};
use stoker_model::JsonMap;

use crate::exit::Outcome;
use crate::remote::{Format, Remote, set, typed};

/// Show a release
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker release show 1
  stoker release show 1 --output yaml")]
pub(super) struct Args {
    /// Release ID
    #[arg(value_name = "RELEASE")]
    release: i64,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut release = remote.get(format!("releases/{}", args.release))?;
    let names = |metadata: &JsonMap| metadata.keys().cloned().collect::<Vec<_>>();
    if remote.format() == Format::Table {
        let metadata: ReleaseView = typed(&release)?;
        set(&mut release, "role_names", names(&metadata.roles_metadata));
        set(&mut release, "tag_names", names(&metadata.tags_metadata));
        let settings: Attributes = typed(&json!(metadata.attributes_metadata))?;
        set(&mut release, "setting_names", names(&settings.editable));
    }
    remote.details(
        &[
            ("id", "id"),
            ("name", "name"),
            ("version", "version"),
            ("operating system", "operating_system"),
            ("state", "state"),
            ("deployable", "is_deployable"),
            ("description", "description"),
            ("roles", "role_names"),
            ("tags", "tag_names"),
            ("settings", "setting_names"),
        ],
        &release,
    )
}
