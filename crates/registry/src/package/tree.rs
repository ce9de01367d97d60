//! The files of a package, read by somebody else.

use std::collections::{BTreeMap, BTreeSet};

/// A package as it lies on a disk or in an archive. Paths are relative to its root, with `/` between parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageTree {
    /// Texts of the files of the root that are to be checked; others do no harm.
    pub texts: BTreeMap<String, String>,
    /// Files and folders that only have to exist.
    pub paths: BTreeSet<String>,
}

impl PackageTree {
    /// Whether there is such a file or folder. A path that leaves the package leads nowhere.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                return false;
            }
            parts.push(part);
        }
        let path = parts.join("/");
        // The root itself is a folder.
        path.is_empty() || self.has(&path)
    }

    fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        let is_it = |known: &str| known.trim_end_matches('/') == path || known.starts_with(&folder);
        self.texts.keys().any(|known| is_it(known)) || self.paths.iter().any(|known| is_it(known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_exist_through_what_is_in_them() {
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
