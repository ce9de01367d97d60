//! Tasks that configure package managers on nodes to use the package repositories of a plugin, and tasks that
//! remove this configuration.

use std::fmt::Write as _;

use stoker_model::{Json, Plugin, Task};

use crate::build::{list, map, object, text};
use crate::reach::{Reach, free_name, quoted, reach};

/// Repository format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepositoryKind {
    /// Flat APT repository.
    Debian,
    /// Repository for `dnf` and `yum`.
    Rpm,
}

impl RepositoryKind {
    /// Returns the format for an operating system.
    pub fn for_os(os: &str) -> Option<Self> {
        let os = os.to_lowercase();
        KNOWN_OS.iter().find(|(known, _)| *known == os).map(|(_, kind)| *kind)
    }
}

/// Operating systems whose package format is known, in lower case.
pub const KNOWN_OS: &[(&str, RepositoryKind)] = &[
    ("almalinux", RepositoryKind::Rpm),
    ("amazon", RepositoryKind::Rpm),
    ("centos", RepositoryKind::Rpm),
    ("debian", RepositoryKind::Debian),
    ("fedora", RepositoryKind::Rpm),
    ("oracle", RepositoryKind::Rpm),
    ("redhat", RepositoryKind::Rpm),
    ("rhel", RepositoryKind::Rpm),
    ("rocky", RepositoryKind::Rpm),
    ("ubuntu", RepositoryKind::Debian),
];

/// Package repository of a plugin, from the point of view of nodes.
#[derive(Clone, Copy, Debug)]
pub struct PackageSource<'a> {
    pub plugin: &'a Plugin,
    pub kind: RepositoryKind,
    /// URL without a trailing slash.
    pub address: &'a str,
    /// CA certificates to trust, in PEM; `None` if those of the system suffice.
    pub authority: Option<&'a str>,
    /// Root directory on nodes; different from `/` only in tests.
    pub root: &'a str,
    /// Digest of the repository, as stored in states under [`STATE_KEY`].
    pub digest: &'a str,
}

/// Repository whose configuration has to be removed from nodes.
#[derive(Clone, Copy, Debug)]
pub struct RemovedSource<'a> {
    pub plugin: &'a str,
    /// Directory of the plugin on the server, which is part of the repository URL.
    pub folder: &'a str,
    pub root: &'a str,
}

/// Key in states for the digests of repositories, by plugin name.
pub const STATE_KEY: &str = "plugin_repositories";
/// Key in the state of a node for a fingerprint of its package credential.
pub const ACCESS_KEY: &str = "package_access";
/// Placeholders for the package credential of a node. The server replaces them when it sends the task, so
/// that plans and history do not contain the credential.
pub const USER_PLACEHOLDER: &str = "{STOKER_PACKAGES_USER}";
pub const PASSWORD_PLACEHOLDER: &str = "{STOKER_PACKAGES_PASSWORD}";
/// Suffix of the task names.
pub const TASK_SUFFIX: &str = "repository";
const UPDATE_ENDING: &str = "repository-update";

const FILES_TIMEOUT_SECONDS: u32 = 60;
/// Timeout of the update task in seconds. Generous, because package managers wait for each other's locks.
const UPDATE_TIMEOUT_SECONDS: u32 = 300;
const UPDATE_RETRIES: u32 = 2;

/// Creates a task that writes package manager configuration and a task that updates the package index; none
/// if the tasks of the plugin run on no node. All of `tasks` depend on both on their node. They run if the
/// repository or the credential has changed since their last success.
pub fn source_tasks(source: PackageSource<'_>, tasks: &[Task], is_taken: impl Fn(&str) -> bool) -> Vec<Task> {
    let Some(Reach { roles, dependents }) = reach(tasks) else { return Vec::new() };
    let plugin = &source.plugin.body.name;
    let condition = format!(
        "old($.get({STATE_KEY}, {{}}).get({})) != {} or old($.get({ACCESS_KEY})) != $.get({ACCESS_KEY})",
        quoted(plugin),
        quoted(source.digest)
    );
    let update_name = free_name(plugin, UPDATE_ENDING, &is_taken);
    let dependents: Vec<Json> = dependents.into_iter().map(text).collect();
    let node = map([("uid", map([("yaql_exp", text("$.uid"))])), ("files", list(files(&source)))]);
    let parameters =
        map([("nodes", list([node])), ("timeout", Json::from(FILES_TIMEOUT_SECONDS)), ("retries", 1.into())]);
    let mut required_for = dependents.clone();
    required_for.push(text(&update_name));
    let files = Task {
        name: free_name(plugin, TASK_SUFFIX, &is_taken),
        fields: fields("upload_files", &roles, required_for, &condition, parameters),
    };
    let cmd = update_command(source.kind, plugin, source.root);
    let update =
        Task { name: update_name, fields: fields("shell", &roles, dependents, &condition, shell(&cmd)) };
    vec![files, update]
}

/// Creates tasks with the same names that remove the configuration where [`source_tasks`] installed it.
pub fn removal_tasks(source: RemovedSource<'_>) -> Vec<Task> {
    let RemovedSource { plugin, folder, root } = source;
    let condition = format!("old($.get({STATE_KEY}, {{}}).get({})) != null", quoted(plugin));
    let root = root.trim_end_matches('/');
    let paths = Paths { plugin, root };
    let files =
        [paths.sources(), paths.authentication(), paths.configuration(), paths.authority(), paths.repo()];
    let removal = format!("rm -f -- {}", files.map(|path| shell_quoted(&path)).join(" "));
    // APT names its list files after the URL, with `/` replaced by `_` and `_` by `%5f`.
    let list_name = format!("_packages_{}_", folder.replace('_', "%5f"));
    let lists = shell_quoted(&format!("{root}/var/lib/apt/lists/"));
    let caches = shell_quoted(&format!("{root}/var/cache/"));
    let id = shell_quoted(&repository_id(plugin));
    let cache_removal =
        format!("rm -rf -- {lists}*{}* {caches}dnf/{id}-* {caches}yum/*/*/{id}", shell_quoted(&list_name));
    let everywhere = text("*");
    let update_name = format!("{plugin}-{UPDATE_ENDING}");
    vec![
        Task {
            name: format!("{plugin}-{TASK_SUFFIX}"),
            fields: fields("shell", &everywhere, vec![text(&update_name)], &condition, shell(&removal)),
        },
        Task {
            name: update_name.clone(),
            fields: fields("shell", &everywhere, Vec::new(), &condition, shell(&cache_removal)),
        },
    ]
}

fn fields(
    task_type: &str,
    roles: &Json,
    required_for: Vec<Json>,
    condition: &str,
    parameters: Json,
) -> stoker_model::JsonMap {
    object([
        ("type", text(task_type)),
        ("version", text("2.1.0")),
        ("roles", roles.clone()),
        ("required_for", list(required_for)),
        ("fail_on_error", Json::Bool(true)),
        ("condition", map([("yaql_exp", text(condition))])),
        ("parameters", parameters),
    ])
}

fn shell(cmd: &str) -> Json {
    map([
        ("cmd", text(cmd)),
        ("cwd", text("/")),
        ("timeout", Json::from(UPDATE_TIMEOUT_SECONDS)),
        ("retries", Json::from(UPDATE_RETRIES)),
    ])
}

/// Returns the repository ID in package manager configuration.
fn repository_id(plugin: &str) -> String {
    format!("stoker-{plugin}")
}

struct Paths<'a> {
    plugin: &'a str,
    /// Root directory on the node, without a trailing slash.
    root: &'a str,
}

impl Paths<'_> {
    fn sources(&self) -> String {
        format!("{}/etc/apt/sources.list.d/{}.sources", self.root, repository_id(self.plugin))
    }

    fn authentication(&self) -> String {
        format!("{}/etc/apt/auth.conf.d/{}.conf", self.root, repository_id(self.plugin))
    }

    fn configuration(&self) -> String {
        format!("{}/etc/apt/apt.conf.d/90{}", self.root, repository_id(self.plugin))
    }

    fn repo(&self) -> String {
        format!("{}/etc/yum.repos.d/{}.repo", self.root, repository_id(self.plugin))
    }

    fn authority(&self) -> String {
        format!("{}/etc/stoker/packages/{}.pem", self.root, self.plugin)
    }
}

fn files(source: &PackageSource<'_>) -> Vec<Json> {
    let PackageSource { kind, address, authority, .. } = *source;
    let body = &source.plugin.body;
    let paths = Paths { plugin: &body.name, root: source.root.trim_end_matches('/') };
    let title = format!("Packages of the plugin {} {}", body.name, body.version);
    let mut files = Vec::new();
    match kind {
        RepositoryKind::Debian => {
            // The index is not signed: the server that provides it controls the node anyway.
            let sources = format!(
                "# {title}; written by Stoker.\nTypes: deb\nURIs: {address}/\nSuites: ./\nTrusted: yes\n"
            );
            files.push(file(&paths.sources(), &sources, "0644"));
            let login =
                format!("machine {address}/ login {USER_PLACEHOLDER} password {PASSWORD_PLACEHOLDER}\n");
            files.push(file(&paths.authentication(), &login, "0600"));
            if authority.is_some() {
                let host = host_of(address);
                let trusted = format!("Acquire::https::{host}::CAInfo \"{}\";\n", paths.authority());
                files.push(file(&paths.configuration(), &trusted, "0644"));
            }
        }
        RepositoryKind::Rpm => {
            let mut repo = format!(
                "# Written by Stoker.\n[{}]\nname={title}\nbaseurl={address}/\nenabled=1\ngpgcheck=0\n\
                 username={USER_PLACEHOLDER}\npassword={PASSWORD_PLACEHOLDER}\n",
                repository_id(&body.name)
            );
            if authority.is_some() {
                _ = writeln!(repo, "sslcacert={}", paths.authority());
            }
            files.push(file(&paths.repo(), &repo, "0600"));
        }
    }
    files.extend(authority.map(|authority| file(&paths.authority(), authority, "0644")));
    files
}

fn file(path: &str, data: &str, permissions: &str) -> Json {
    map([("dst", text(path)), ("data", text(data)), ("permissions", text(permissions))])
}

/// Returns the host of a URL, without the port.
fn host_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// Updates only this repository, so that unavailable other repositories do not fail the task.
fn update_command(kind: RepositoryKind, plugin: &str, root: &str) -> String {
    let root = root.trim_end_matches('/');
    match kind {
        RepositoryKind::Debian => {
            let sources = shell_quoted(&Paths { plugin, root }.sources());
            let dir = if root.is_empty() { String::new() } else { format!("-o Dir={} ", shell_quoted(root)) };
            format!(
                "apt-get update {dir}-o Dir::Etc::sourcelist={sources} -o Dir::Etc::sourceparts=- \
                 -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any"
            )
        }
        RepositoryKind::Rpm => {
            let id = shell_quoted(&repository_id(plugin));
            let install_root = if root.is_empty() {
                String::new()
            } else {
                format!("--installroot={} ", shell_quoted(root))
            };
            format!(
                "if command -v dnf >/dev/null; then manager=dnf; else manager=yum; fi; \
                 $manager {install_root}--disablerepo='*' --enablerepo={id} clean expire-cache && \
                 $manager {install_root}--disablerepo='*' --enablerepo={id} makecache"
            )
        }
    }
}

/// Quotes a word for the shell.
fn shell_quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_model::{Micros, NewPlugin, PluginId};

    use super::*;

    fn create(kind: RepositoryKind, address: &str, authority: Option<&str>, root: &str) -> Vec<Task> {
        let body = NewPlugin::new("lma", "1.0.0", "4.0.0");
        let plugin = Plugin { id: PluginId(1), generation: 1, body, created_at: Micros(0) };
        let source = PackageSource { plugin: &plugin, kind, address, authority, root, digest: "lma-1.0 abc" };
        let task = |name: &str, fields: Json| Task {
            name: name.to_owned(),
            fields: fields.as_object().cloned().unwrap_or_default(),
        };
        let tasks = [
            task("a", json!({"type": "shell", "roles": ["controller"]})),
            task("lma-scripts", json!({"type": "copy_files", "roles": ["controller"]})),
        ];
        source_tasks(source, &tasks, |_| false)
    }

    fn files_of(task: &Task) -> Vec<(String, String, String)> {
        let files = task.fields["parameters"]["nodes"][0]["files"].as_array().unwrap();
        let text = |file: &Json, key: &str| file[key].as_str().unwrap().to_owned();
        files.iter().map(|file| (text(file, "dst"), text(file, "permissions"), text(file, "data"))).collect()
    }

    #[test]
    fn apt_sources_are_written_before_scripts_and_tasks() {
        let tasks = create(RepositoryKind::Debian, "http://h:1/packages/lma-1.0/repo", None, "/");
        let names: Vec<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
        assert_eq!(names, ["lma-repository", "lma-repository-update"]);
        assert_eq!(tasks[0].fields["required_for"], json!(["a", "lma-scripts", "lma-repository-update"]));
        assert_eq!(tasks[1].fields["required_for"], json!(["a", "lma-scripts"]));
        assert_eq!(tasks[0].fields["roles"], json!(["controller"]));
        let condition = "old($.get(plugin_repositories, {}).get('lma')) != 'lma-1.0 abc' \
                         or old($.get(package_access)) != $.get(package_access)";
        assert!(tasks.iter().all(|task| task.fields["condition"] == json!({"yaql_exp": condition})));
        let files = files_of(&tasks[0]);
        assert_eq!(files.len(), 2);
        assert_eq!((&*files[0].0, &*files[0].1), ("/etc/apt/sources.list.d/stoker-lma.sources", "0644"));
        assert!(files[0].2.contains("URIs: http://h:1/packages/lma-1.0/repo/\nSuites: ./\nTrusted: yes\n"));
        assert!(!files[0].2.contains("PASSWORD"), "world-readable");
        assert_eq!((&*files[1].0, &*files[1].1), ("/etc/apt/auth.conf.d/stoker-lma.conf", "0600"));
        assert!(files[1].2.starts_with("machine http://h:1/packages/lma-1.0/repo/ login {STOKER"));
        let cmd = tasks[1].fields["parameters"]["cmd"].as_str().unwrap();
        assert!(!cmd.contains("Dir="), "{cmd}");
        let elsewhere = create(RepositoryKind::Debian, "http://h/x", None, "/tmp/it's");
        let cmd = elsewhere[1].fields["parameters"]["cmd"].as_str().unwrap();
        assert!(cmd.contains(r"-o Dir='/tmp/it'\''s' "), "{cmd}");
    }

    #[test]
    fn custom_ca_is_trusted_for_this_host_only() {
        let tasks = create(RepositoryKind::Debian, "https://stoker.example:8443/p", Some("PEM"), "/");
        let files = files_of(&tasks[0]);
        let expected = "Acquire::https::stoker.example::CAInfo \"/etc/stoker/packages/lma.pem\";\n";
        assert_eq!(files[2].2, expected);
        assert_eq!((&*files[3].0, &*files[3].2), ("/etc/stoker/packages/lma.pem", "PEM"));
        let tasks = create(RepositoryKind::Rpm, "https://stoker.example:8443/p", Some("PEM"), "/");
        assert!(files_of(&tasks[0])[0].2.ends_with("sslcacert=/etc/stoker/packages/lma.pem\n"));
    }

    #[test]
    fn dnf_repo_file_is_private() {
        let tasks = create(RepositoryKind::Rpm, "http://h/packages/lma-1.0/repo", None, "/");
        let files = files_of(&tasks[0]);
        assert_eq!(
            files,
            [(
                "/etc/yum.repos.d/stoker-lma.repo".to_owned(),
                "0600".to_owned(),
                "# Written by Stoker.\n[stoker-lma]\nname=Packages of the plugin lma 1.0.0\n\
                 baseurl=http://h/packages/lma-1.0/repo/\nenabled=1\ngpgcheck=0\n\
                 username={STOKER_PACKAGES_USER}\npassword={STOKER_PACKAGES_PASSWORD}\n"
                    .to_owned()
            )]
        );
        let cmd = tasks[1].fields["parameters"]["cmd"].as_str().unwrap();
        assert!(cmd.contains("--enablerepo='stoker-lma' makecache"), "{cmd}");
    }

    #[test]
    fn former_sources_are_removed() {
        let tasks = removal_tasks(RemovedSource { plugin: "l_a", folder: "l_a-1.0", root: "/r" });
        assert_eq!(tasks[0].name, "l_a-repository");
        let cmd = |idx: usize| tasks[idx].fields["parameters"]["cmd"].as_str().unwrap();
        assert!(cmd(0).contains(" '/r/etc/apt/auth.conf.d/stoker-l_a.conf' "), "{}", cmd(0));
        assert!(cmd(1).contains("'/r/var/lib/apt/lists/'*'_packages_l%5fa-1.0_'*"), "{}", cmd(1));
        let condition = json!({"yaql_exp": "old($.get(plugin_repositories, {}).get('l_a')) != null"});
        assert!(tasks.iter().all(|task| task.fields["condition"] == condition));
    }

    #[test]
    fn no_tasks_without_nodes() {
        let body = NewPlugin::new("lma", "1.0.0", "4.0.0");
        let plugin = Plugin { id: PluginId(1), generation: 1, body, created_at: Micros(0) };
        let kind = RepositoryKind::Debian;
        let source =
            PackageSource { plugin: &plugin, kind, address: "", authority: None, root: "/", digest: "" };
        assert!(source_tasks(source, &[], |_| false).is_empty());
    }
}
