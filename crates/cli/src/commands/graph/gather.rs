//! One graph of every `tasks.yaml` below a folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value as Json;

use super::local::{File, refuse_errors, rendered};
use crate::diagnostic::Diagnostic;
use crate::exit::{Failure, Outcome};
use crate::input::read_text;
use crate::printer::Printer;

const NAME: &str = "tasks.yaml";
/// Deeper than any folder that people have; a link that leads back up ends here.
const DEPTH_MAX: usize = 32;

/// All tasks, in the order of the paths of their files. Everything that is wrong with any of them is told.
pub(super) fn tasks(folder: &Path, printer: &mut Printer) -> Outcome<Vec<Json>> {
    let mut paths = Vec::new();
    find(folder, 0, &mut paths)
        .map_err(|error| Failure::input(format!("cannot read `{}`: {error}", folder.display())))?;
    if paths.is_empty() {
        return Err(Failure::input(format!("there is no `{NAME}` below `{}`", folder.display())));
    }
    paths.sort();
    let mut diagnostics = Vec::new();
    let mut files = Vec::new();
    for path in &paths {
        files.push(File::judge(read_text(path)?, &mut diagnostics));
    }
    diagnostics.extend(twice(&files));
    refuse_errors(diagnostics, printer)?;
    Ok(files.iter().flat_map(|file| rendered(&file.tasks)).collect())
}

fn find(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    if depth > DEPTH_MAX {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, depth + 1, paths)?;
        } else if path.file_name().is_some_and(|name| name == NAME) {
            paths.push(path);
        }
    }
    Ok(())
}

/// Tasks that two files have. Inside of one file this was told already.
fn twice(files: &[File]) -> Vec<Diagnostic> {
    let mut first: HashMap<&str, &File> = HashMap::new();
    let mut diagnostics = Vec::new();
    for file in files {
        for id in file.ids() {
            match first.get(id) {
                Some(other) if !std::ptr::eq(*other, file) => {
                    let message = format!("task `{id}` is in `{}` already", other.text.origin);
                    let mut diagnostic = Diagnostic::error(message).code("manifest-duplicate-task");
                    diagnostic.place = file.place(id, "id");
                    diagnostics.push(diagnostic);
                }
                Some(_) => {}
                None => _ = first.insert(id, file),
            }
        }
    }
    diagnostics
}
