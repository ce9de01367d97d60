use crate::exit::Outcome;
use crate::remote::Remote;

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
    let names = |metadata: &serde_json::Value| {
        metadata.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>())
    };
    if remote.format() == crate::remote::Format::Table {
        release["role_names"] = names(&release["roles_metadata"]).into();
        release["tag_names"] = names(&release["tags_metadata"]).into();
        release["setting_names"] = names(&release["attributes_metadata"]["editable"]).into();
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
