//! `stoker plugin install`: uploads a package to the server.

use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use stoker_api_types::plugins::PluginView;
use stoker_client::{Body, Method, RestRequest};
use stoker_packages::pack_plugin;

use super::find::display_name;
use crate::exit::{Failure, Outcome};
use crate::package;
use crate::remote::{Remote, SharedOptions, typed};

/// Install a plugin on the server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
PATH is a directory, which is checked and packed, or an archive built by `stoker plugin build`. The server checks, unpacks
and registers the plugin. From package format version 2 on, it replaces an installed plugin with the same name, major
and minor version, and keeps its ID.

Examples:
  stoker plugin install gridnet/
  stoker plugin install gridnet-1.0.0.fp")]
pub(super) struct Args {
    /// Plugin directory or archive
    #[arg(value_name = "PATH")]
    path: PathBuf,

    #[command(flatten)]
    pub(super) options: SharedOptions,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let archive = if args.path.is_dir() { pack(&args.path)? } else { open_archive(&args.path)? };
    let request = RestRequest::new(Method::Post, "plugins/upload")
        .body(Body::File("application/octet-stream", &archive));
    let response = remote.send(&request)?;
    remote.note_warnings(&response);
    let plugin: PluginView = typed(&response)?;
    remote.note(&format!("installed {}", display_name(&plugin)));
    if remote.format() == crate::remote::Format::Table && !remote.is_quiet() {
        return Ok(());
    }
    remote.report_change("", &response)
}

fn open_archive(path: &Path) -> Outcome<File> {
    File::open(path).map_err(|error| Failure::input(format!("cannot read `{}`: {error}", path.display())))
}

/// Packs a directory after checking it locally, where problems can be shown in the source files.
fn pack(path: &Path) -> Outcome<File> {
    let package = package::open(path)?.package()?;
    let pack_error =
        |error: &dyn std::error::Error| Failure::input(format!("cannot pack `{}`: {error}", path.display()));
    let mut file = tempfile::tempfile().map_err(|error| pack_error(&error))?;
    pack_plugin(path, &package, &mut file).map_err(|error| pack_error(&error))?;
    file.seek(SeekFrom::Start(0)).map_err(|error| pack_error(&error))?;
    Ok(file)
}
