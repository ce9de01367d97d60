//! `stoker plugin build`: builds an installable archive.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use stoker_diagnostics::{Diagnostic, Severity};
use stoker_model::ErrorChain;
use stoker_packages::{ARCHIVE_EXTENSION, FolderError, pack_file};

use crate::exit::{Exit, Failure, Outcome};
use crate::package;
use crate::printer::Printer;

/// Build a plugin archive for `stoker plugin install`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
If the plugin has an executable `pre_build_hook`, it runs first, in the plugin directory. Then the plugin is checked.
For the package directories in `repository_path`, an index for apt or dnf is added to the archive; a signed index is kept
unchanged. The archive contains `checksums.sha1` and all files except top-level dotfiles. Builds are reproducible: the
same files give the same bytes. Standard output contains the path of the archive.

Exit codes:
  0  the archive was built
  1  the hook failed, or the plugin is invalid
  2  invalid usage
  3  the plugin could not be read
  4  the archive could not be written

Examples:
  stoker plugin build gridnet/
  stoker plugin build gridnet/ --output-dir dist/")]
pub(super) struct Args {
    /// Plugin directory
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// Output directory for the archive [default: the plugin directory]
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
}

const HOOK: &str = "pre_build_hook";

pub(super) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    if !args.path.is_dir() {
        let path = args.path.display();
        return Err(Failure::input(format!("`{path}` is not a directory")));
    }
    run_hook(&args.path)?;
    let checked = package::open(&args.path)?.check()?;
    let diagnostics = package::diagnostics(&args.path, &checked);
    let Some(package) = checked.result.package else {
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
        error => Failure::input(ErrorChain(&error).to_string()),
    })?;
    Ok(printer.data(&target.display().to_string())?)
}

/// Runs the hook of the plugin author; its output goes to standard error.
fn run_hook(folder: &Path) -> Outcome {
    let hook = folder.join(HOOK);
    let is_executable = fs::metadata(&hook)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0);
    if !is_executable {
        return Ok(());
    }
    let hook_error = |reason: String| {
        let message = format!("`{}` {reason}", hook.display());
        Failure::new(Exit::Failed, Diagnostic::error("pre-build-hook", message))
    };
    let program = fs::canonicalize(&hook).map_err(|error| hook_error(format!("cannot run: {error}")))?;
    let status = Command::new(program).current_dir(folder).stdout(io::stderr()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(hook_error(format!("failed: {status}"))),
        Err(error) => Err(hook_error(format!("cannot run: {error}"))),
    }
}
