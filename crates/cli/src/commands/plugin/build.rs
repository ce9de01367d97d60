//! `stoker plugin build`: an archive that can be installed.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use stoker_packages::{ARCHIVE_EXTENSION, FolderError, pack_file};

use crate::diagnostic::{Diagnostic, Severity};
use crate::exit::{Exit, Failure, Outcome};
use crate::package;
use crate::printer::Printer;

/// Make an archive of a plugin that can be installed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A file `pre_build_hook` that is executable is run first, in the folder of the plugin. Then the plugin is checked. For
packages in the folders that `repository_path` names, an index is made that apt or dnf can read; it is in the archive
only, and one that is signed is left as it is. The
archive holds every file but those at the top whose names begin with a dot, and `checksums.sha1`; the
same files give the same bytes. Standard output is the path of the archive.

Exit codes:
  0  there is an archive
  1  the hook failed, or the plugin is wrong
  2  wrong usage
  3  the plugin could not be read
  4  the archive could not be written

Examples:
  stoker plugin build gridnet/
  stoker plugin build gridnet/ --output-dir dist/")]
pub(super) struct Args {
    /// Folder of the plugin
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// Where the archive goes; into the folder of the plugin if not given
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
}

const HOOK: &str = "pre_build_hook";

pub(super) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    if !args.path.is_dir() {
        let shown = args.path.display();
        return Err(Failure::input(format!("`{shown}` is no folder; an archive is built from one")));
    }
    run_hook(&args.path)?;
    let found = package::open(&args.path)?.check()?;
    let diagnostics = package::diagnostics(&args.path, &found);
    let Some(package) = found.checked.package else {
        return Err(Failure { exit: Exit::Failed, diagnostics });
    };
    for warning in diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning) {
        printer.diagnostic(warning);
    }
    let folder = args.output_dir.as_ref().unwrap_or(&args.path);
    let plugin = &package.plugin;
    let target = folder.join(format!("{}-{}.{ARCHIVE_EXTENSION}", plugin.name, plugin.version));
    fs::create_dir_all(folder).map_err(|error| Failure::unwritable(&target, &error))?;
    pack_file(&args.path, &package, &target).map_err(|error| match error {
        FolderError::Output(error) => Failure::unwritable(&target, &error),
        error => Failure::input(error.to_string()),
    })?;
    Ok(printer.data(&target.display().to_string())?)
}

/// What the author does before each build. What it prints is for people.
fn run_hook(folder: &Path) -> Outcome {
    let hook = folder.join(HOOK);
    let is_executable = fs::metadata(&hook)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0);
    if !is_executable {
        return Ok(());
    }
    let failed = |reason: String| {
        let message = format!("`{}` {reason}", hook.display());
        Failure::new(Exit::Failed, Diagnostic::error(message).code("pre-build-hook"))
    };
    let program = fs::canonicalize(&hook).map_err(|error| failed(format!("cannot be run: {error}")))?;
    let status = Command::new(program).current_dir(folder).stdout(io::stderr()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("failed: {status}"))),
        Err(error) => Err(failed(format!("cannot be run: {error}"))),
    }
}
