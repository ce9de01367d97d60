//! No file contains the host name of a package registry or a path of one machine: mirrors and directories are
//! configured on the build machine.

use super::problem::Problem;
use super::tree::{File, Tree};

/// Hosts, split in two so that this file passes the rule itself.
const HOSTS: &[(&str, &str)] = &[
    // sorted
    ("crates", ".io"),
    ("deb.debian", ".org"),
    ("docker", ".io"),
    ("ghcr", ".io"),
    ("jfrog", ".io"),
    ("npmjs", ".org"),
    ("pypi", ".org"),
    ("pythonhosted", ".org"),
    ("quay", ".io"),
    ("rubygems", ".org"),
    ("yarnpkg", ".com"),
    // end sorted
];

/// Prefixes of machine-specific paths, split in two.
const FOLDERS: &[(&str, &str)] = &[
    // sorted
    ("/Us", "ers/"),
    ("/ho", "me/"),
    ("/ro", "ot/"),
    ("/wo", "rk/"),
    // end sorted
];

/// Exempt files, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let excused = |file: &&File| EXCEPTIONS.iter().any(|(path, _)| *path == file.path);
    tree.files
        .iter()
        .filter(|file| file.name() != "Cargo.lock" && !excused(file))
        .flat_map(check_file)
        .collect()
}

fn check_file(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line_idx, line) in file.text.lines().enumerate() {
        for (first, second) in HOSTS {
            let host = format!("{first}{second}");
            if line.to_ascii_lowercase().contains(&host) {
                problems.push(Problem::error(
                    &file.path,
                    line_idx + 1,
                    format!("`{host}` is the host of a package registry"),
                    "write `the package registry`; tools have its address in their configuration",
                ));
            }
        }
        for (first, second) in FOLDERS {
            let folder = format!("{first}{second}");
            if begins_path(line, &folder) {
                problems.push(Problem::error(
                    &file.path,
                    line_idx + 1,
                    format!("`{folder}` is a machine-specific path"),
                    "use a path relative to the repository, or an example such as `/srv/example`",
                ));
            }
        }
    }
    problems
}

/// Returns whether an absolute path in this line starts with `folder`; `a/folder/` does not count.
fn begins_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder)
        .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-/*}>".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n_problems(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn every_host_and_folder_is_found() {
        for (first, second) in HOSTS {
            assert_eq!(
                n_problems("a.toml", &format!("url = \"https://{first}{second}/x\"")),
                1,
                "{first}{second}"
            );
        }
        for (first, second) in FOLDERS {
            assert_eq!(n_problems("a.md", &format!("in `{first}{second}x`")), 1, "{first}{second}");
        }
    }

    #[test]
    fn lock_files_and_relative_paths_pass() {
        let (first, second) = HOSTS[0];
        assert_eq!(n_problems("Cargo.lock", &format!("{first}{second}")), 0);
        let (first, second) = FOLDERS[3];
        assert_eq!(n_problems("a.md", &format!("docs{first}{second}x ../a{first}{second}")), 0);
    }
}
