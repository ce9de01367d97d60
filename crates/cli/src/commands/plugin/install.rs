//! `stoker plugin install`: a package goes to the server.

use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use stoker_client::{Body, Method, Request};
use stoker_model::Json;
use stoker_packages::pack_plugin;

use super::find::shown;
use crate::exit::{Failure, Outcome};
use crate::package;
use crate::remote::{Remote, Shared};

/// Install a plugin on the server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
PATH is a folder, which is checked and packed, or an archive that `stoker plugin build` made. The server checks it
again, unpacks it and registers it. From package version 2 on, a plugin of the same name and the same first two
numbers of the version takes the place of the one that is installed and keeps its id.

Examples:
  stoker plugin install gridnet/
  stoker plugin install gridnet-1.0.0.fp")]
pub(super) struct Args {
    /// Folder of the plugin, or archive
    #[arg(value_name = "PATH")]
    path: PathBuf,

    #[command(flatten)]
    pub(super) options: Shared,
}

pub(super) fn run(args: &Args, remote: &mut Remote<'_>) -> Outcome {
    let archive = if args.path.is_dir() { packed(&args.path)? } else { opened(&args.path)? };
    let request =
        Request::new(Method::Post, "plugins/upload").body(Body::File("application/octet-stream", &archive));
    let plugin = remote.send(&request)?;
    for warning in plugin["warnings"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        remote.note(&format!("warning: {warning}"));
    }
    remote.note(&format!("installed {}", shown(&plugin)));
    if remote.format() == crate::remote::Format::Table && !remote.is_quiet() {
        return Ok(());
    }
    remote.made("", &plugin)
}

fn opened(path: &Path) -> Outcome<File> {
    File::open(path).map_err(|error| Failure::input(format!("cannot read `{}`: {error}", path.display())))
}

/// A folder as the server wants it. What is wrong with it is told here, where its files are.
fn packed(path: &Path) -> Outcome<File> {
    let package = package::open(path)?.package()?;
    let failed =
        |error: &dyn std::error::Error| Failure::input(format!("cannot pack `{}`: {error}", path.display()));
    let mut file = tempfile::tempfile().map_err(|error| failed(&error))?;
    pack_plugin(path, &package, &mut file).map_err(|error| failed(&error))?;
    file.seek(SeekFrom::Start(0)).map_err(|error| failed(&error))?;
    Ok(file)
}
