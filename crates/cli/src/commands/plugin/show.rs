use stoker_model::Json;

use super::find::{find, releases};
use crate::exit::Outcome;
use crate::remote::{Format, Remote, Shared};

/// Show an installed plugin
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A plugin is named by its id, as `gridnet` (its newest version), or as `gridnet==1.0.0`.

Examples:
  stoker plugin show gridnet
  stoker plugin show 4 --output yaml")]
pub(super) struct Args {
    /// Id or name of the plugin
    #[arg(value_name = "PLUGIN")]
    plugin: String,

    #[command(flatten)]
    pub(super) options: Shared,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut plugin = find(remote, &args.plugin)?;
    if remote.format() == Format::Table {
        plugin["release_names"] = Json::from(releases(&plugin));
    }
    remote.details(
        &[
            ("id", "id"),
            ("name", "name"),
            ("title", "title"),
            ("version", "version"),
            ("package version", "package_version"),
            ("description", "description"),
            ("releases", "release_names"),
            ("groups", "groups"),
            ("authors", "authors"),
            ("licenses", "licenses"),
            ("homepage", "homepage"),
            ("hot-pluggable", "is_hotpluggable"),
        ],
        &plugin,
    )
}
