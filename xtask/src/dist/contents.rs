//! The files of a release and their installed paths.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::empty;
use crate::failure::{Context as _, Outcome};
use crate::process::{capture, run};

pub(super) struct File {
    from: PathBuf,
    /// Relative to the root of the system.
    pub(super) in_system: String,
    /// Relative to the directory of the archive.
    pub(super) in_archive: String,
    pub(super) mode: u32,
}

pub(super) struct Contents {
    pub(super) files: Vec<File>,
}

const PROGRAM: u32 = 0o755;
const TEXT: u32 = 0o644;
/// Mode of configuration files that contain passwords and tokens.
const SECRET: u32 = 0o600;

/// Source in the repository, path in the system, path in the archive, mode.
const FIXED: &[(&str, &str, &str, u32)] = &[
    // sorted
    ("LICENSE", "usr/share/doc/stoker/LICENSE", "LICENSE", TEXT),
    ("README.md", "usr/share/doc/stoker/README.md", "README.md", TEXT),
    ("packaging/agent.env", "etc/stoker/agent.env", "systemd/agent.env", SECRET),
    ("packaging/agent.toml", "etc/stoker/agent.toml", "systemd/agent.toml", TEXT),
    ("packaging/debian/copyright", "usr/share/doc/stoker/copyright", "copyright", TEXT),
    ("packaging/serve.toml", "etc/stoker/serve.toml", "systemd/serve.toml", TEXT),
    ("packaging/server.env", "etc/stoker/server.env", "systemd/server.env", SECRET),
    (
        "packaging/systemd/stoker-agent.service",
        "usr/lib/systemd/system/stoker-agent.service",
        "systemd/stoker-agent.service",
        TEXT,
    ),
    (
        "packaging/systemd/stoker.service",
        "usr/lib/systemd/system/stoker.service",
        "systemd/stoker.service",
        TEXT,
    ),
    // end sorted
];

/// Shell and installed path of its completions.
const COMPLETIONS: &[(&str, &str)] = &[
    // sorted
    ("bash", "usr/share/bash-completion/completions/stoker"),
    ("fish", "usr/share/fish/vendor_completions.d/stoker.fish"),
    ("zsh", "usr/share/zsh/vendor-completions/_stoker"),
    // end sorted
];

impl Contents {
    /// Collects files of the repository and files that the program generates.
    pub(super) fn gather(root: &Path, program: &Path, generated: &Path) -> Outcome<Self> {
        let mut files = vec![File {
            from: program.to_path_buf(),
            in_system: "usr/bin/stoker".to_owned(),
            in_archive: "stoker".to_owned(),
            mode: PROGRAM,
        }];
        files.extend(FIXED.iter().map(|(from, in_system, in_archive, mode)| File {
            from: root.join(from),
            in_system: (*in_system).to_owned(),
            in_archive: (*in_archive).to_owned(),
            mode: *mode,
        }));
        files.extend(completions(program, &generated.join("completions"))?);
        files.extend(manual_pages(program, &generated.join("man"))?);
        Ok(Self { files })
    }

    /// Copies all files below a directory, to the path that `place` returns.
    pub(super) fn lay_out(&self, folder: &Path, place: impl Fn(&File) -> String) -> Outcome {
        for file in &self.files {
            let to = folder.join(place(file));
            let parent = to.parent().unwrap_or(folder);
            fs::create_dir_all(parent).context(format!("cannot create `{}`", parent.display()))?;
            fs::copy(&file.from, &to).context(format!("cannot copy `{}`", file.from.display()))?;
            fs::set_permissions(&to, fs::Permissions::from_mode(file.mode))
                .context(format!("cannot change the mode of `{}`", to.display()))?;
        }
        Ok(())
    }
}

fn completions(program: &Path, folder: &Path) -> Outcome<Vec<File>> {
    empty(folder)?;
    let mut files = Vec::new();
    for (shell, in_system) in COMPLETIONS {
        let script = capture(Command::new(program).args(["completions", shell]))?;
        let from = folder.join(shell);
        fs::write(&from, script).context(format!("cannot write `{}`", from.display()))?;
        let in_archive = format!("completions/{shell}");
        files.push(File { from, in_system: (*in_system).to_owned(), in_archive, mode: TEXT });
    }
    Ok(files)
}

/// Returns the manual pages, compressed without a time stamp so that builds are reproducible.
fn manual_pages(program: &Path, folder: &Path) -> Outcome<Vec<File>> {
    empty(folder)?;
    capture(Command::new(program).arg("man").arg(folder))?;
    run(Command::new("gzip").args(["--best", "--no-name", "--recursive"]).arg(folder))?;
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).context(format!("cannot read `{}`", folder.display()))? {
        names.push(entry.context("cannot read a directory")?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    let file = |name: &String| File {
        from: folder.join(name),
        in_system: format!("usr/share/man/man1/{name}"),
        in_archive: format!("man/{name}"),
        mode: TEXT,
    };
    Ok(names.iter().map(file).collect())
}
