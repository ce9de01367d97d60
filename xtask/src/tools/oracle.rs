//! The reference implementation of YAQL, in a Python environment of its own under the target folder.
//! Tests that compare answers find its interpreter in [`VARIABLE`].

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::debian;
use crate::failure::{Context as _, Failure, Outcome};
use crate::process::{run, succeeds};

/// Where tests look for the interpreter that can `import yaql`.
pub(crate) const VARIABLE: &str = "STOKER_YAQL_ORACLE_PYTHON";
/// Exact versions: the answers of the reference are part of the specification.
const PACKAGES: &[&str] = &["yaql==3.2.0", "python-dateutil==2.9.0.post0"];
/// Names another Python to build the environment with.
const CHOICE: &str = "STOKER_PYTHON";
/// The reference uses `collections.abc` without importing it.
const IMPORT: &str = "import collections.abc, yaql";
const USABLE: &str = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";

/// The interpreter of the reference; builds its environment the first time.
pub(crate) fn python(target_dir: &Path) -> Outcome<PathBuf> {
    let folder = target_dir.join("yaql-oracle");
    let interpreter = folder.join("bin").join("python");
    let stamp = folder.join("packages.txt");
    let wanted = PACKAGES.join("\n");
    let is_current = fs::read_to_string(&stamp).is_ok_and(|found| found == wanted);
    if is_current && succeeds(Command::new(&interpreter).args(["-c", IMPORT])) {
        return Ok(interpreter);
    }
    let base = base_python()?;
    run(Command::new(base).args(["-m", "venv", "--clear"]).arg(&folder))?;
    run(Command::new(&interpreter)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(PACKAGES))?;
    run(Command::new(&interpreter).args(["-c", IMPORT]))?;
    fs::write(&stamp, wanted).context(format!("cannot write `{}`", stamp.display()))?;
    Ok(interpreter)
}

/// A Python that can make virtual environments; a shim on the path that cannot run does not count.
fn base_python() -> Outcome<PathBuf> {
    if let Some(chosen) = env::var_os(CHOICE) {
        let chosen = PathBuf::from(chosen);
        return if is_usable(&chosen) {
            Ok(chosen)
        } else {
            Err(Failure::new(format!(
                "`{CHOICE}` names `{}`, which cannot make environments",
                chosen.display()
            )))
        };
    }
    let candidates =
        || ["python3", "/usr/bin/python3"].map(PathBuf::from).into_iter().find(|path| is_usable(path));
    if let Some(found) = candidates() {
        return Ok(found);
    }
    debian::install(&debian::PYTHON)?;
    candidates()
        .ok_or_else(|| Failure::new(format!("no Python 3.10 or newer with `venv`; name one in `{CHOICE}`")))
}

fn is_usable(python: &Path) -> bool {
    succeeds(Command::new(python).args(["-c", USABLE]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_python_that_runs_is_usable() {
        assert!(!is_usable(Path::new("false")));
        assert!(!is_usable(Path::new("no-such-python")));
    }

    #[test]
    fn versions_are_exact() {
        assert!(PACKAGES.iter().all(|package| package.contains("==")));
    }
}
