//! Virtual environments with Python packages, in the target directory.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::debian;
use crate::failure::{Context as _, Failure, Outcome};
use crate::process::{run, succeeds};

/// Variable that selects the Python that creates the environments.
const CHOICE: &str = "STOKER_PYTHON";
const USABLE: &str = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";

/// A virtual environment.
pub(crate) struct Environment {
    /// Name of the directory.
    pub(crate) name: &'static str,
    /// Packages with exact versions, because tests compare with their output.
    pub(crate) packages: &'static [&'static str],
    /// Python code that succeeds if the packages are installed.
    pub(crate) probe: &'static str,
}

impl Environment {
    /// Returns the path of the interpreter; creates the environment if it is missing or has other packages.
    pub(crate) fn python(&self, target_dir: &Path) -> Outcome<PathBuf> {
        let folder = target_dir.join(self.name);
        let interpreter = folder.join("bin").join("python");
        let stamp = folder.join("packages.txt");
        let packages = self.packages.join("\n");
        let is_current = fs::read_to_string(&stamp).is_ok_and(|text| text == packages);
        if is_current && succeeds(Command::new(&interpreter).args(["-c", self.probe])) {
            return Ok(interpreter);
        }
        let base = base_python()?;
        run(Command::new(base).args(["-m", "venv", "--clear"]).arg(&folder))?;
        run(Command::new(&interpreter)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(self.packages))?;
        run(Command::new(&interpreter).args(["-c", self.probe]))?;
        fs::write(&stamp, packages).context(format!("cannot write `{}`", stamp.display()))?;
        Ok(interpreter)
    }
}

/// Returns a Python that can create virtual environments; broken shims on the search path are ignored.
fn base_python() -> Outcome<PathBuf> {
    if let Some(chosen) = env::var_os(CHOICE) {
        let python = PathBuf::from(chosen);
        return if is_usable(&python) {
            Ok(python)
        } else {
            Err(Failure::new(format!(
                "`{CHOICE}` is `{}`, which cannot create virtual environments",
                python.display()
            )))
        };
    }
    let candidates =
        || ["python3", "/usr/bin/python3"].map(PathBuf::from).into_iter().find(|path| is_usable(path));
    if let Some(python) = candidates() {
        return Ok(python);
    }
    debian::install(&debian::PYTHON)?;
    candidates()
        .ok_or_else(|| Failure::new(format!("no Python 3.10 or newer with `venv`; set `{CHOICE}` to one")))
}

fn is_usable(python: &Path) -> bool {
    succeeds(Command::new(python).args(["-c", USABLE]))
}

#[cfg(test)]
mod tests {
    use super::super::{ansible, fuel2, node, oracle, schemathesis, trove};
    use super::*;

    #[test]
    fn broken_python_is_not_usable() {
        assert!(!is_usable(Path::new("false")));
        assert!(!is_usable(Path::new("no-such-python")));
    }

    #[test]
    fn versions_are_exact() {
        for environment in [
            ansible::ENVIRONMENT,
            fuel2::ENVIRONMENT,
            node::ENVIRONMENT,
            oracle::ENVIRONMENT,
            schemathesis::ENVIRONMENT,
            trove::ENVIRONMENT,
        ] {
            assert!(
                environment.packages.iter().all(|package| package.contains("==")),
                "{}",
                environment.name
            );
        }
    }
}
