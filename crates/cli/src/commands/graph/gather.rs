//! Reads all `tasks.yaml` files below a directory as one graph.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value as Json;
use stoker_diagnostics::Diagnostic;
use stoker_manifest::codes;

use super::local::{File, fail_on_errors, render_tasks};
use crate::exit::{Failure, Outcome};
use crate::input::read_text;
use crate::printer::Printer;

const NAME: &str = "tasks.yaml";
/// Maximum depth of directories. Deeper than real directory trees; bounds the recursion through symlink
/// cycles.
const DEPTH_MAX: usize = 32;

/// Returns all tasks in the order of their file paths, or the problems of all files.
pub(super) fn tasks(folder: &Path, printer: &mut Printer) -> Outcome<Vec<Json>> {
    let mut paths = Vec::new();
    find(folder, 0, &mut paths)
        .map_err(|error| Failure::input(format!("cannot read `{}`: {error}", folder.display())))?;
    if paths.is_empty() {
        return Err(Failure::input(format!("no `{NAME}` files below `{}`", folder.display())));
    }
    paths.sort();
    let mut diagnostics = Vec::new();
    let mut files = Vec::new();
    for path in &paths {
        files.push(File::parse(read_text(path)?, &mut diagnostics));
    }
    diagnostics.extend(cross_file_duplicates(&files));
    fail_on_errors(diagnostics, printer)?;
    Ok(files.iter().flat_map(|file| render_tasks(&file.tasks)).collect())
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

/// Reports tasks that two files define. Duplicates within one file are reported by the parser.
fn cross_file_duplicates(files: &[File]) -> Vec<Diagnostic> {
    let mut first: HashMap<&str, &File> = HashMap::new();
    let mut diagnostics = Vec::new();
    for file in files {
        for id in file.ids() {
            match first.get(id) {
                Some(other) if !std::ptr::eq(*other, file) => {
                    let message = format!("task `{id}` is already defined in `{}`", other.text.origin);
                    let diagnostic = Diagnostic::error(codes::DUPLICATE_TASK, message);
                    diagnostics.push(file.text.attach(diagnostic.at(file.locate(id, "id"))));
                }
                Some(_) => {}
                None => _ = first.insert(id, file),
            }
        }
    }
    diagnostics
}
