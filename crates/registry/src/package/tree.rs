//! Files of a package as data.

use std::collections::{BTreeMap, BTreeSet};

/// Package contents. Paths are relative to the root of the package, with `/` as separator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageTree {
    /// Texts of top-level files to be checked; other files are ignored.
    pub texts: BTreeMap<String, String>,
    /// Files and directories whose existence is checked.
    pub paths: BTreeSet<String>,
}

impl PackageTree {
    /// Reports whether a file or directory exists. Always false for paths outside the package.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                return false;
            }
            parts.push(part);
        }
        let path = parts.join("/");
        // The root itself is a directory.
        path.is_empty() || self.has(&path)
    }

    fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        let is_match =
            |candidate: &str| candidate.trim_end_matches('/') == path || candidate.starts_with(&folder);
        self.texts.keys().any(|candidate| is_match(candidate))
            || self.paths.iter().any(|candidate| is_match(candidate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_exists_if_it_has_files() {
        let tree = PackageTree {
            texts: BTreeMap::from([("metadata.yaml".to_owned(), String::new())]),
            paths: ["scripts/deploy/run.sh", "repositories/ubuntu/"].map(str::to_owned).into(),
        };
        for path in ["scripts", "scripts/", "./scripts//deploy", "repositories/ubuntu", "metadata.yaml", "."]
        {
            assert!(tree.exists(path), "{path}");
        }
        for path in ["script", "scripts/run.sh", "../scripts", "scripts/../scripts", "repositories/centos"] {
            assert!(!tree.exists(path), "{path}");
        }
    }
}
