//! Checks the encryption keys of module payloads.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Setup;
use crate::commands::doctor::check_result::CheckResult;

const CHECK: &str = "module keys";
const KEY_BYTES: usize = 32;

pub(super) fn check(setup: &Setup) -> Vec<CheckResult> {
    let path = &setup.key_file;
    let file = path.display();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let is_new = matches!(&setup.inspection, Ok(None))
                || matches!(&setup.inspection, Ok(Some(i)) if i.schema_version == 0);
            return vec![if is_new {
                CheckResult::ok(CHECK, format!("{file} does not exist; the first start creates it"))
            } else {
                CheckResult::warning(
                    CHECK,
                    format!(
                        "{file} does not exist; the server cannot start if the database contains encrypted payloads"
                    ),
                    "restore the key file of this database, or pass its path with `--modules-key-file`",
                )
            }];
        }
        Err(error) => {
            let help = "make it readable by the user of the server only";
            return vec![CheckResult::problem(CHECK, format!("cannot read {file}: {error}"), help)];
        }
    };
    let mode = fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
    vec![if let Err(line) = check_keys(&text) {
        let help = "restore it from its backup";
        CheckResult::problem(CHECK, format!("{file}:{line}: invalid key"), help)
    } else if mode & 0o077 != 0 {
        CheckResult::warning(
            CHECK,
            format!("{file} is readable by other users"),
            format!("run `chmod 0600 {file}`"),
        )
    } else {
        CheckResult::ok(CHECK, format!("{file} is valid; back it up separately from the database"))
    }]
}

/// Checks that every line is a name and a key; returns the number of the first invalid line, or the line after the
/// last one if there is no key.
fn check_keys(text: &str) -> Result<(), usize> {
    let mut n_keys = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let key = line.split_once(' ').and_then(|(_, key)| STANDARD.decode(key.trim()).ok());
        if key.is_none_or(|key| key.len() != KEY_BYTES) {
            return Err(number);
        }
        n_keys += 1;
    }
    if n_keys == 0 { Err(text.lines().count() + 1) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_key_lines_are_reported() {
        let key = STANDARD.encode([7; KEY_BYTES]);
        assert_eq!(check_keys(&format!("# keys\na {key}\n\nb {key}\n")), Ok(()));
        assert_eq!(check_keys(""), Err(1));
        assert_eq!(check_keys("# none\n"), Err(2));
        assert_eq!(check_keys(&format!("a {key}\nb AAAA\n")), Err(2));
    }
}
