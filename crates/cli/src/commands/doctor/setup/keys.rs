//! The keys of what is sealed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Setup;
use crate::commands::doctor::finding::Finding;

const CHECK: &str = "module keys";
const KEY_BYTES: usize = 32;

pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    let path = &setup.key_file;
    let shown = path.display();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let is_new = matches!(&setup.inspected, Ok(None))
                || matches!(&setup.inspected, Ok(Some(i)) if i.found == 0);
            return vec![if is_new {
                Finding::ok(CHECK, format!("{shown} is not there yet; the first start makes it"))
            } else {
                Finding::warning(
                    CHECK,
                    format!(
                        "{shown} is not there; if something is sealed already, the server will not start"
                    ),
                    "put the file there that was made with the database, or name it with `--modules-key-file`",
                )
            }];
        }
        Err(error) => {
            let help = "let the user who runs the server read it, and nobody else";
            return vec![Finding::problem(CHECK, format!("{shown} cannot be read: {error}"), help)];
        }
    };
    let mode = fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
    vec![if let Err(line) = read(&text) {
        let help = "restore it from the copy that you keep apart from the database";
        Finding::problem(CHECK, format!("{shown}:{line}: this is no key"), help)
    } else if mode & 0o077 != 0 {
        Finding::warning(CHECK, format!("others can read {shown}"), format!("`chmod 0600 {shown}`"))
    } else {
        Finding::ok(CHECK, format!("{shown} has them; keep a copy apart from the database"))
    }]
}

/// Whether every line is a name and a key; otherwise the line that is not, or the one after the last.
fn read(text: &str) -> Result<(), usize> {
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
    fn keys_are_told_from_nonsense() {
        let key = STANDARD.encode([7; KEY_BYTES]);
        assert_eq!(read(&format!("# keys\na {key}\n\nb {key}\n")), Ok(()));
        assert_eq!(read(""), Err(1));
        assert_eq!(read("# none\n"), Err(2));
        assert_eq!(read(&format!("a {key}\nb AAAA\n")), Err(2));
    }
}
