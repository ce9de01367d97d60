use super::find::{find, releases};
use crate::exit::Outcome;
use crate::remote::{Format, Remote, SharedOptions, set, typed};

/// Show an installed plugin
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker plugin show gridnet
  stoker plugin show 4 --output yaml")]
pub(super) struct Args {
    /// Plugin ID, name (newest version) or `NAME==VERSION`
    #[arg(value_name = "PLUGIN")]
    plugin: String,

    #[command(flatten)]
    pub(super) options: SharedOptions,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let mut plugin = find(remote, &args.plugin)?;
    if remote.format() == Format::Table {
        let names = releases(&typed(&plugin)?);
        set(&mut plugin, "release_names", names);
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
