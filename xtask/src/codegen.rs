//! `cargo xtask codegen`: files that `stoker` generates from its code. They are committed, and CI compares
//! them.

use std::fs;
use std::path::Path;
use std::process;

use crate::args::Args;
use crate::command::Command;
use crate::failure::{Context as _, Failure, Outcome};
use crate::process::capture;
use crate::workspace::{self, Metadata, Profile};

pub(crate) const COMMAND: Command = Command {
    name: "codegen",
    about: "write the generated files, or check that they are up to date",
    help: "\
Usage: cargo xtask codegen [--check]

Runs `stoker` for every generated file and writes its output.

  --check    Write nothing and fail if a file is out of date
",
    run: |mut args: Args| {
        let mode = if args.flag("--check") { Mode::Check } else { Mode::Write };
        args.finish()?;
        run(mode)
    },
};

/// A generated file and the arguments of `stoker` that print it.
struct Generated {
    path: &'static str,
    arguments: &'static [&'static str],
}

/// All generated files.
const GENERATED: &[Generated] = &[
    // sorted
    Generated { path: "docs/configuration.md", arguments: &["config", "reference"] },
    Generated { path: "docs/reference/task-types.md", arguments: &["task-types"] },
    Generated { path: "docs/reference/tasks.schema.json", arguments: &["schema", "tasks"] },
    Generated { path: "docs/reference/yaql-functions.md", arguments: &["yaql", "reference"] },
    Generated { path: "openapi/stoker.json", arguments: &["openapi"] },
    Generated { path: "packaging/agent.toml", arguments: &["config", "example", "agent"] },
    Generated { path: "packaging/serve.toml", arguments: &["config", "example", "serve"] },
    // end sorted
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Check,
    Write,
}

pub(crate) fn run(mode: Mode) -> Outcome {
    let root = workspace::root();
    let program = Metadata::load(&root)?.build_stoker(&root, Profile::Dev)?;
    let mut stale = Vec::new();
    for file in GENERATED {
        let fresh = capture(process::Command::new(&program).args(file.arguments))?;
        if !refresh(&root, file.path, &fresh, mode)? {
            stale.push(file.path);
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("out of date: {}; run `cargo xtask codegen` and commit", stale.join(", "))))
}

/// Writes the file if it is out of date. Returns false if it is out of date and the mode is `Check`.
fn refresh(root: &Path, path: &str, fresh: &str, mode: Mode) -> Outcome<bool> {
    let full = root.join(path);
    if fs::read_to_string(&full).is_ok_and(|text| text == fresh) {
        return Ok(true);
    }
    if mode == Mode::Check {
        return Ok(false);
    }
    if let Some(folder) = full.parent() {
        fs::create_dir_all(folder).context(format!("cannot create `{}`", folder.display()))?;
    }
    fs::write(&full, fresh).context(format!("cannot write `{path}`"))?;
    println!("wrote {path}");
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_file_fails_the_check_and_is_rewritten() {
        let root = std::env::temp_dir().join(format!("stoker-codegen-{}", process::id()));
        assert!(!refresh(&root, "docs/a.md", "new", Mode::Check).unwrap());
        assert!(refresh(&root, "docs/a.md", "new", Mode::Write).unwrap());
        assert!(refresh(&root, "docs/a.md", "new", Mode::Check).unwrap());
        assert!(!refresh(&root, "docs/a.md", "newer", Mode::Check).unwrap());
        fs::remove_dir_all(&root).unwrap();
    }
}
