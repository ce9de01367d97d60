//! `stoker plugin create`: writes the skeleton of a plugin.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use stoker_diagnostics::Diagnostic;
use stoker_registry::package::{PackageVersion, SkeletonFile, SkeletonOptions, skeleton};

use crate::exit::{Exit, Failure, Outcome};
use crate::printer::Printer;

/// Create a plugin from a template
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The last component of PATH is the name of the plugin: lowercase letters, digits, `_` and `-`. PATH must not exist. The
files pass `stoker plugin check`; their comments explain what to change and which stage numbers to use.

Examples:
  stoker plugin create plugins/gridnet
  stoker plugin create gridnet --package-version 4.0.0 --with-wizard")]
pub(super) struct Args {
    /// Plugin directory to create
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// Package format version, from 1.0.0 to 5.0.0
    #[arg(long, value_name = "VERSION", default_value = "5.0.0", value_parser = package_version)]
    package_version: PackageVersion,

    /// Include a file that adds questions to the cluster creation wizard
    #[arg(long)]
    with_wizard: bool,
}

fn package_version(text: &str) -> Result<PackageVersion, String> {
    let versions: Vec<&str> = PackageVersion::ALL.iter().map(|version| version.as_str()).collect();
    PackageVersion::parse(text).ok_or_else(|| format!("expected one of {}", versions.join(", ")))
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let path = args.path.display();
    let usage = |message: String| Failure::new(Exit::Usage, Diagnostic::plain(message));
    let name = args.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let options = SkeletonOptions { name, version: args.package_version, has_wizard: args.with_wizard };
    let files = skeleton(options).map_err(|error| usage(format!("invalid plugin name `{name}`: {error}")))?;
    if args.path.symlink_metadata().is_ok() {
        return Err(usage(format!("`{path}` already exists")));
    }
    if let Err(error) = write(&args.path, &files) {
        // Remove the partial plugin, so that the command can be repeated.
        _ = fs::remove_dir_all(&args.path);
        return Err(Failure::unwritable(&args.path, &error));
    }
    let files: Vec<String> = files.iter().map(|file| format!("  {}\n", file.path)).collect();
    let next = format!("edit the files, then run `stoker plugin check {path}`");
    Ok(printer.data(&format!("created `{path}`:\n{}{next}", files.concat()))?)
}

fn write(folder: &Path, files: &[SkeletonFile]) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::create_dir(folder)?;
    for file in files {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, &file.text)?;
        if file.is_executable {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}
