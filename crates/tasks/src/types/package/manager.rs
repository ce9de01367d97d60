//! Package managers: queries and commands.

use std::collections::BTreeMap;
use std::path::Path;

use super::spec::DesiredPackage;
use crate::context::Context;
use crate::host::{Command, CommandEffect};
use crate::outcome::Failure;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::types) enum PackageManager {
    Apt,
    Dnf,
}

/// An installed package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Installed {
    pub(super) version: String,
    pub(super) is_held: bool,
}

impl PackageManager {
    pub(in crate::types) async fn find(cx: Context<'_>) -> Result<Self, Failure> {
        for (path, manager) in [("/usr/bin/apt-get", Self::Apt), ("/usr/bin/dnf", Self::Dnf)] {
            if cx.host.inspect(Path::new(path)).await?.is_some() {
                return Ok(manager);
            }
        }
        Err(Failure::failed("the node has neither `apt-get` nor `dnf`"))
    }

    /// Returns the installed ones of these packages.
    pub(super) async fn installed(
        self,
        packages: &[DesiredPackage],
        cx: Context<'_>,
    ) -> Result<BTreeMap<String, Installed>, Failure> {
        let names = packages.iter().map(|package| package.name.as_str());
        let words: Vec<&str> = match self {
            Self::Apt => {
                let format =
                    "--showformat=${Package}\\t${db:Status-Abbrev}\\t${Version}\\t${Architecture}\\n";
                ["dpkg-query", "--show", format, "--"].into_iter().chain(names).collect()
            }
            Self::Dnf => {
                let format = "%{NAME}\\tii\\t%{EVR}\\t%{ARCH}\\n";
                ["rpm", "--query", "--queryformat", format].into_iter().chain(names).collect()
            }
        };
        // Unknown packages make the exit code 1; the known ones are listed nevertheless.
        let result = cx.host.query(Command::argv(words).effect(CommandEffect::Reads)).await?;
        let installed = result.stdout.lines().filter_map(read_installed);
        Ok(installed.flat_map(|(names, installed)| names.map(|name| (name, installed.clone()))).collect())
    }

    /// Returns the newest version that the package lists offer, for each package that has one.
    pub(super) async fn candidates(
        self,
        packages: &[DesiredPackage],
        cx: Context<'_>,
    ) -> Result<BTreeMap<String, String>, Failure> {
        let names = packages.iter().map(|package| package.name.as_str());
        let words: Vec<&str> = match self {
            Self::Apt => ["apt-cache", "policy", "--"].into_iter().chain(names).collect(),
            Self::Dnf => {
                let format = "%{NAME}\\t%{EVR}\\n";
                let query = ["dnf", "repoquery", "--quiet", "--latest-limit=1", "--queryformat", format];
                query.into_iter().chain(names).collect()
            }
        };
        let result = cx.host.query(Command::argv(words).effect(CommandEffect::Reads)).await?;
        Ok(match self {
            Self::Apt => read_policy(&result.stdout),
            Self::Dnf => {
                let pairs = result.stdout.lines().filter_map(|line| line.split_once('\t'));
                pairs.map(|(name, version)| (name.to_owned(), version.to_owned())).collect()
            }
        })
    }

    pub(super) fn update_lists(self) -> Command {
        match self {
            Self::Apt => apt(&["update"], &[]),
            Self::Dnf => dnf(&["makecache"], &[]),
        }
    }

    /// Updates the package lists of one source of apt, given as text. Lists of other sources are kept.
    pub(in crate::types) fn update_lists_of(source: String) -> Command {
        let options = [
            "-o",
            "Dir::Etc::sourcelist={scratch}/new.sources",
            "-o",
            "Dir::Etc::sourceparts=-",
            "-o",
            "APT::Get::List-Cleanup=0",
            // Otherwise a failed download is a warning.
            "-o",
            "APT::Update::Error-Mode=any",
        ];
        apt(&[&options[..], &["update"]].concat(), &[]).scratch("new.sources", source.into_bytes())
    }

    /// Installs packages, written as `name` or `name=version`.
    pub(super) fn install(self, packages: &[&DesiredPackage]) -> Command {
        match self {
            Self::Apt => {
                let words = packages.iter().map(|package| match &package.version {
                    Some(version) => format!("{}={version}", package.name),
                    None => package.name.clone(),
                });
                let options =
                    ["--no-install-recommends", "--allow-downgrades", "--allow-change-held-packages"];
                apt(&[&["install"], &options[..]].concat(), &words.collect::<Vec<_>>())
            }
            Self::Dnf => {
                let words = packages.iter().map(|package| match &package.version {
                    Some(version) => format!("{}-{version}", package.name),
                    None => package.name.clone(),
                });
                dnf(&["install", "--allowerasing"], &words.collect::<Vec<_>>())
            }
        }
    }

    pub(super) fn remove(self, names: &[String]) -> Command {
        match self {
            Self::Apt => apt(&["remove", "--allow-change-held-packages"], names),
            Self::Dnf => dnf(&["remove"], names),
        }
    }

    /// `None` if the package manager cannot hold packages.
    pub(super) fn hold(self, is_held: bool, names: &[String]) -> Option<Command> {
        let verb = if is_held { "hold" } else { "unhold" };
        let words = ["apt-mark", verb].into_iter().map(str::to_owned).chain(names.iter().cloned());
        (self == Self::Apt).then(|| Command::argv(words))
    }
}

/// Seconds to wait for another program that installs packages.
const LOCK_TIMEOUT: &str = "DPkg::Lock::Timeout=300";

fn apt(verb: &[&str], names: &[String]) -> Command {
    let options = [
        "-o",
        LOCK_TIMEOUT,
        "-o",
        "Dpkg::Options::=--force-confdef",
        "-o",
        "Dpkg::Options::=--force-confold",
    ];
    let words = ["apt-get", "--yes", "--quiet"].into_iter().chain(options).chain(verb.iter().copied());
    Command::argv(words.map(str::to_owned).chain(names.iter().cloned()))
        .env("DEBIAN_FRONTEND", "noninteractive")
}

fn dnf(verb: &[&str], names: &[String]) -> Command {
    let words = ["dnf", "--assumeyes", "--quiet"].into_iter().chain(verb.iter().copied());
    Command::argv(words.map(str::to_owned).chain(names.iter().cloned()))
}

/// Reads `name <tab> status <tab> version <tab> architecture`. Returns the names by which a package can be desired.
/// Removed packages whose configuration remains are not installed.
fn read_installed(line: &str) -> Option<([String; 3], Installed)> {
    let fields: Vec<&str> = line.split('\t').collect();
    let &[name, status, version, arch] = fields.as_slice() else { return None };
    let mut letters = status.chars();
    let (desired, current) = (letters.next()?, letters.next()?);
    let names = [name.to_owned(), format!("{name}:{arch}"), format!("{name}.{arch}")];
    (current == 'i').then(|| (names, Installed { version: version.to_owned(), is_held: desired == 'h' }))
}

/// Reads the candidates in the output of `apt-cache policy`.
fn read_policy(text: &str) -> BTreeMap<String, String> {
    let mut candidates = BTreeMap::new();
    let mut name = "";
    for line in text.lines() {
        if let Some(package) = line.strip_suffix(':').filter(|_| !line.starts_with(' ')) {
            name = package;
        } else if let Some(version) = line.trim().strip_prefix("Candidate: ").filter(|it| *it != "(none)") {
            candidates.insert(name.to_owned(), version.to_owned());
        }
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_package_managers_is_read() {
        let installed = |version: &str, is_held| Installed { version: version.to_owned(), is_held };
        let names = ["nginx", "nginx:amd64", "nginx.amd64"].map(str::to_owned);
        for (status, is_held) in [("ii ", false), ("hi ", true)] {
            let line = format!("nginx\t{status}\t1.22.1-9\tamd64");
            assert_eq!(read_installed(&line), Some((names.clone(), installed("1.22.1-9", is_held))));
        }
        assert_eq!(read_installed("nginx\trc \t1.22.1-9\tamd64"), None);
        assert_eq!(read_installed("package nginx is not installed"), None);
        let policy = "nginx:\n  Installed: (none)\n  Candidate: 1.22.1-9\n  Version table:\nnone:\n  Candidate: (none)\n";
        assert_eq!(read_policy(policy), BTreeMap::from([("nginx".to_owned(), "1.22.1-9".to_owned())]));
    }
}
