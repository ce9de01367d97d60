//! Python packages in environments of their own under the target folder.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::debian;
use crate::failure::{Context as _, Failure, Outcome};
use crate::process::{run, succeeds};

/// Names another Python to build environments with.
const CHOICE: &str = "STOKER_PYTHON";
const USABLE: &str = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";

/// Packages that are used together.
pub(crate) struct Environment {
    /// The name of its folder.
    pub(crate) name: &'static str,
    /// With exact versions: what they answer is part of what is tested.
    pub(crate) packages: &'static [&'static str],
    /// A program that works when they are installed.
    pub(crate) probe: &'static str,
}

impl Environment {
    /// The interpreter of the environment, which is built the first time.
    pub(crate) fn python(&self, target_dir: &Path) -> Outcome<PathBuf> {
        let folder = target_dir.join(self.name);
        let interpreter = folder.join("bin").join("python");
        let stamp = folder.join("packages.txt");
        let wanted = self.packages.join("\n");
        let is_current = fs::read_to_string(&stamp).is_ok_and(|found| found == wanted);
        if is_current && succeeds(Command::new(&interpreter).args(["-c", self.probe])) {
            return Ok(interpreter);
        }
        let base = base_python()?;
        run(Command::new(base).args(["-m", "venv", "--clear"]).arg(&folder))?;
        run(Command::new(&interpreter)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(self.packages))?;
        run(Command::new(&interpreter).args(["-c", self.probe]))?;
        fs::write(&stamp, wanted).context(format!("cannot write `{}`", stamp.display()))?;
        Ok(interpreter)
    }
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
    use super::super::{ansible, fuel2, node, oracle, schemathesis, trove};
    use super::*;

    #[test]
    fn only_a_python_that_runs_is_usable() {
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
