//! No file names the host of a package registry or a path of one machine: mirrors and folders are the
//! business of whoever builds, not of the repository.

use super::problem::Problem;
use super::tree::{File, Tree};

/// Hosts, written in two halves so that this file obeys its own rule.
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

/// First folders of paths that exist on one machine only, in two halves.
const FOLDERS: &[(&str, &str)] = &[
    // sorted
    ("/Us", "ers/"),
    ("/ho", "me/"),
    ("/ro", "ot/"),
    ("/wo", "rk/"),
    // end sorted
];

/// Files that may name such a path, with the reason.
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
                    "say `the package registry`; tools know its address from their own configuration",
                ));
            }
        }
        for (first, second) in FOLDERS {
            let folder = format!("{first}{second}");
            if begins_path(line, &folder) {
                problems.push(Problem::error(
                    &file.path,
                    line_idx + 1,
                    format!("`{folder}` is a path of one machine"),
                    "use a path relative to the repository, or an invented one such as `/srv/example`",
                ));
            }
        }
    }
    problems
}

/// Whether an absolute path in this line begins with `folder`; `a/folder/` is another path.
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
    fn lock_files_and_longer_paths_are_free() {
        let (first, second) = HOSTS[0];
        assert_eq!(n_problems("Cargo.lock", &format!("{first}{second}")), 0);
        let (first, second) = FOLDERS[3];
        assert_eq!(n_problems("a.md", &format!("docs{first}{second}x ../a{first}{second}")), 0);
    }
}
