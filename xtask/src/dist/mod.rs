//! `cargo xtask dist`: the release archive and the Debian package.

mod contents;
mod deb;
mod proof;
mod service;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Program;

use crate::args::Args;
use crate::command::Command;
use crate::failure::{Context as _, Failure, Outcome};
use crate::process::{capture, run};
use crate::terminal::print_line;
use crate::ui;
use crate::workspace::{self, Metadata, Profile};

use contents::Contents;

pub(crate) const COMMAND: Command = Command {
    name: "dist",
    about: "build the release archive and the Debian package",
    help: "\
Usage: cargo xtask dist [--debug] [--check] [--out DIR]

Builds the web UI and `stoker` and packs them with manual pages, completions and systemd units into
`stoker-VERSION-ARCH.tar.gz` and `stoker_VERSION_ARCH.deb`. The files are reproducible.

  --debug      Pack the development build: fast, not for distribution
  --check      Install the package in a private root, start its services, and purge it
  --out DIR    Output directory (default: `dist` in the target directory)
",
    run: |mut args: Args| {
        let profile = if args.flag("--debug") { Profile::Dev } else { Profile::Release };
        let is_checked = args.flag("--check");
        let out = args.option("--out")?.map(PathBuf::from);
        args.finish()?;
        let root = workspace::root();
        let metadata = Metadata::load(&root)?;
        let out = out.unwrap_or_else(|| metadata.target_dir.join("dist"));
        if profile == Profile::Release {
            // A development build reads the web UI from `ui/dist` at run time.
            ui::build(&root)?;
        }
        let program = metadata.build_stoker(&root, profile)?;
        make(&root, &program, profile, &out, is_checked)
    },
};

/// Builds the archive and the package; with `is_checked` also installs, starts and purges the package.
pub(crate) fn make(root: &Path, program: &Path, profile: Profile, out: &Path, is_checked: bool) -> Outcome {
    let release = Release::read(root, program)?;
    let work = out.join("work");
    empty(&work)?;
    let contents = Contents::gather(root, program, &work.join("generated"))?;
    let archive = archive(&contents, &release, &work, out)?;
    let package = deb::build(root, &contents, &release, &work, out, profile)?;
    print_line(&format!("{}\n{}", archive.display(), package.display()));
    if is_checked {
        proof::prove(&package, &contents, &work.join("scratch"))?;
    }
    fs::remove_dir_all(&work).context(format!("cannot remove `{}`", work.display()))
}

/// Properties of the release that appear in file names and metadata.
struct Release {
    version: String,
    /// Debian's name of the architecture.
    architecture: String,
    /// Modification time of all files, in seconds since 1970: the time of the last commit.
    date: String,
}

impl Release {
    fn read(root: &Path, program: &Path) -> Outcome<Self> {
        let output = capture(Program::new(program).arg("--version"))?;
        let version = output.split_whitespace().nth(1).map(str::to_owned);
        let version =
            version.ok_or_else(|| Failure::new(format!("`stoker --version` printed `{}`", output.trim())))?;
        let architecture = capture(Program::new("dpkg").arg("--print-architecture"))?.trim().to_owned();
        let date = capture(Program::new("git").current_dir(root).args(["log", "-1", "--format=%ct"]))?;
        Ok(Self { version, architecture, date: date.trim().to_owned() })
    }
}

fn archive(contents: &Contents, release: &Release, work: &Path, out: &Path) -> Outcome<PathBuf> {
    let name = format!("stoker-{}-{}", release.version, release.architecture);
    contents.lay_out(&work.join("archive").join(&name), |file| file.in_archive.clone())?;
    let path = out.join(format!("{name}.tar.gz"));
    run(Program::new("tar")
        .args(["--create", "--gzip", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .arg(format!("--mtime=@{}", release.date))
        .arg("--file")
        .arg(&path)
        .arg("--directory")
        .arg(work.join("archive"))
        .arg(&name))?;
    Ok(path)
}

/// Creates a directory, or empties it.
fn empty(folder: &Path) -> Outcome {
    if folder.exists() {
        fs::remove_dir_all(folder).context(format!("cannot remove `{}`", folder.display()))?;
    }
    fs::create_dir_all(folder).context(format!("cannot create `{}`", folder.display()))
}
