//! The Debian package.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Release;
use super::contents::Contents;
use crate::failure::{Context as _, Outcome};
use crate::process::run;
use crate::workspace::Profile;

const TEMPLATES: &str = "packaging/debian";
/// Control files of the package and their modes.
const CONTROL: &[(&str, u32)] = &[
    // sorted
    ("conffiles", 0o644),
    ("control", 0o644),
    ("postinst", 0o755),
    ("postrm", 0o755),
    ("prerm", 0o755),
    // end sorted
];

pub(super) fn build(
    root: &Path,
    contents: &Contents,
    release: &Release,
    work: &Path,
    out: &Path,
    profile: Profile,
) -> Outcome<PathBuf> {
    let tree = work.join("deb");
    contents.lay_out(&tree, |file| file.in_system.clone())?;
    let n_kilobytes: u64 =
        contents.files.iter().map(|file| size(&tree.join(&file.in_system)).div_ceil(1024)).sum();
    let control = tree.join("DEBIAN");
    fs::create_dir(&control).context(format!("cannot create `{}`", control.display()))?;
    for (name, mode) in CONTROL {
        let from = root.join(TEMPLATES).join(name);
        let text = fs::read_to_string(&from).context(format!("cannot read `{}`", from.display()))?;
        let to = control.join(name);
        fs::write(&to, fill(&text, release, n_kilobytes))
            .context(format!("cannot write `{}`", to.display()))?;
        fs::set_permissions(&to, fs::Permissions::from_mode(*mode))
            .context(format!("cannot change the mode of `{}`", to.display()))?;
    }
    let package = out.join(format!("stoker_{}_{}.deb", release.version, release.architecture));
    // The package of a development build is deleted after the check, so speed is more important than size.
    let level = if profile == Profile::Dev { "-z1" } else { "-z9" };
    run(Command::new("dpkg-deb")
        .args(["--root-owner-group", "-Zgzip", level, "--build"])
        .arg(&tree)
        .arg(&package)
        .env("SOURCE_DATE_EPOCH", &release.date))?;
    Ok(package)
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

fn fill(text: &str, release: &Release, n_kilobytes: u64) -> String {
    text.replace("@VERSION@", &release.version)
        .replace("@ARCHITECTURE@", &release.architecture)
        .replace("@SIZE@", &n_kilobytes.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn all_placeholders_are_replaced() {
        let release =
            Release { version: "1.2.3".to_owned(), architecture: "amd64".to_owned(), date: "0".to_owned() };
        for (name, _) in CONTROL {
            let text = fs::read_to_string(workspace::root().join(TEMPLATES).join(name)).unwrap();
            let text = fill(&text, &release, 7);
            assert!(!text.contains('@') || text.contains("@localhost"), "{name}: {text}");
        }
    }
}
