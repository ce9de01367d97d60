//! Private temporary directory of one command.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use tempfile::TempDir;

use super::super::{Command, HostError, Program, ScratchFile};

/// Placeholder for the directory in arguments.
const PLACEHOLDER: &str = "{scratch}";

/// Maximum size of a collected file; the rest is not read.
const COLLECT_BYTES_MAX: u64 = 1 << 20;

/// Maximum size of a script passed as an argument; longer scripts are passed as a file, because Linux limits
/// a single argument to 128 KiB.
const SCRIPT_BYTES_MAX: usize = 100_000;

/// Creates the directory, which is removed when dropped. `None` if the command needs none.
pub(super) fn create(root: &Path, shell: &Path, command: &mut Command) -> Result<Option<TempDir>, HostError> {
    if let Program::Script(text) = &command.program
        && (text.len() > SCRIPT_BYTES_MAX || text.starts_with("#!"))
    {
        let file = ScratchFile { name: "script".to_owned(), data: text.clone().into_bytes() };
        let mut words = interpreter(text).unwrap_or_else(|| vec![shell.display().to_string()]);
        words.push(format!("{PLACEHOLDER}/script"));
        command.program = Program::Argv(words);
        command.scratch.push(file);
    }
    if command.scratch.is_empty() && command.collect.is_empty() {
        return Ok(None);
    }
    let folder = tempfile::Builder::new()
        .prefix("command-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(root)
        .map_err(|error| HostError::file("create a directory in", root, &error))?;
    for file in &command.scratch {
        let path = folder.path().join(&file.name);
        let opened = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        opened
            .and_then(|mut opened| opened.write_all(&file.data))
            .map_err(|error| HostError::file("write", &path, &error))?;
    }
    let path = folder.path().display().to_string();
    if let Program::Argv(words) = &mut command.program {
        for word in words {
            *word = word.replace(PLACEHOLDER, &path);
        }
    }
    Ok(Some(folder))
}

/// Returns the interpreter from the `#!` line. The script is passed to it instead of being executed: a
/// process forked concurrently may still have the new file open for writing, in which case the kernel fails
/// the exec with `ETXTBSY`.
fn interpreter(script: &str) -> Option<Vec<String>> {
    let line = script.strip_prefix("#!")?.lines().next()?.trim();
    let (program, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let words = [program, argument.trim()].into_iter().filter(|word| !word.is_empty());
    (!program.is_empty()).then(|| words.map(str::to_owned).collect())
}

/// Reads the files that exist.
pub(super) fn collect(folder: &Path, names: &[String]) -> BTreeMap<String, String> {
    let read = |name: &String| {
        let mut data = Vec::new();
        fs::File::open(folder.join(name)).ok()?.take(COLLECT_BYTES_MAX).read_to_end(&mut data).ok()?;
        Some((name.clone(), String::from_utf8_lossy(&data).into_owned()))
    };
    names.iter().filter_map(read).collect()
}
