//! Packages of plugins, from a file in the plugin directory to the package manager of a node.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::plugins::edit;
use crate::site::Site;

/// Reports whether apt-get and dpkg-deb are installed.
fn has_apt() -> bool {
    // Both tools are looked up, so that each missing tool is recorded.
    let tools = [stoker_testkit::Tool::APT, stoker_testkit::Tool::DPKG_DEB];
    let paths = tools.map(stoker_testkit::Tool::find);

    paths.iter().all(Option::is_some)
}

impl Site {
    /// Creates a plugin that contains a package.
    fn plugin_with_package(&self, name: &str) {
        self.create_plugin(name, &["pre_deployment/10"]);
        edit(&self.file(name).join("metadata.yaml"), "is_hotpluggable: false", "is_hotpluggable: true");
        self.package(name, "1.0");
    }

    fn package(&self, name: &str, version: &str) {
        let tree = self.file("tree");
        fs::create_dir_all(tree.join("DEBIAN")).unwrap();
        let control = format!(
            "Package: {name}-tool\nVersion: {version}\nArchitecture: all\nMaintainer: A <a@example.com>\n\
             Description: a tool\n"
        );
        fs::write(tree.join("DEBIAN/control"), control).unwrap();
        let target = self.file(name).join(format!("repositories/ubuntu/{name}-tool.deb"));
        let output = Command::new("dpkg-deb").arg("-b").args([&tree, &target]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// Creates the files of a node that apt needs.
    fn prepare_node(&self) {
        for folder in ["etc/apt/preferences.d", "var/lib/dpkg", "var/cache/apt/archives/partial"] {
            fs::create_dir_all(self.file("node").join(folder)).unwrap();
        }
        fs::write(self.file("node/var/lib/dpkg/status"), "").unwrap();
    }

    fn apt(&self, arguments: &[&str]) -> Output {
        let folder = self.file("downloads");
        fs::create_dir_all(&folder).unwrap();
        let mut command = Command::new("apt-get");
        command.arg("-o").arg(format!("Dir={}", self.file("node").display()));
        command.args(["-o", "APT::Update::Error-Mode=any"]).args(arguments);
        command.current_dir(folder).env("LC_ALL", "C").output().unwrap()
    }

    /// Statuses of the repository tasks on the controller.
    fn source_tasks(&self, run: &Value) -> Vec<String> {
        let history = self.history(run["id"].as_i64().unwrap());
        let controller = self.nodes[0].to_string();
        let summary = |row: &Value| {
            let name = row["task_name"].as_str().unwrap();
            let is_match = name.contains("-repository") && row["node_id"] == controller.as_str();
            is_match.then(|| format!("{name} {}", row["status"].as_str().unwrap()))
        };
        let mut summaries: Vec<String> = history.iter().filter_map(summary).collect();
        summaries.sort();
        summaries
    }

    fn deploy_sources(&self) -> Vec<String> {
        let run = self.deploy(&json!({}));
        assert_eq!(run["status"], "ready", "{run} {:?}", self.history(run["id"].as_i64().unwrap()));
        self.source_tasks(&run)
    }
}

fn stages() -> Value {
    json!([
        {"id": "deploy", "type": "shell", "version": "2.1.0", "roles": ["controller"],
         "requires": ["pre_deployment_end"], "required_for": ["post_deployment_start"],
         "parameters": {"cmd": "true", "timeout": 60, "retries": 0}},
    ])
}

fn status_of(url: &str, user: &str, password: &str) -> u16 {
    let agent = crate::process::agent(None);
    let mut request = agent.get(url);
    if !user.is_empty() {
        use base64::Engine as _;
        let encoded = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
        request = request.header("authorization", format!("Basic {encoded}"));
    }
    request.call().unwrap().status().as_u16()
}

fn words(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().split_whitespace().map(str::to_owned).collect()
}

#[test]
fn repository_is_added_and_removed_with_the_plugin() {
    if !has_apt() {
        return;
    }
    let site = Site::new(&stages());
    site.prepare_node();
    site.plugin_with_package("gridnet");
    let sources_folder = site.file("node/etc/apt/sources.list.d");
    let (from, to) = (" >>", format!("; ls {} >>", sources_folder.display()));
    edit(&site.file("gridnet/tasks.yaml"), from, &to);
    let archive = site.run_ok(&["plugin", "build", "gridnet", "--output-dir", "dist"]);
    site.run_ok(&["plugin", "install", archive.trim_end()]);
    let env = site.cluster.to_string();
    assert_eq!(site.deploy_sources(), Vec::<String>::new(), "the plugin is not enabled");
    site.run_ok(&["plugin", "enable", "gridnet", "--env", &env]);
    let updated = ["gridnet-repository ready", "gridnet-repository-update ready"];
    assert_eq!(site.deploy_sources(), updated);
    assert_eq!(
        site.read("trace"),
        "stoker-gridnet.sources\n",
        "the source exists before tasks of the plugin run"
    );

    // Access to packages.
    let secret = site.file("node/etc/apt/auth.conf.d/stoker-gridnet.conf");
    assert_eq!(fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
    let login = words(&secret);
    let [_, address, _, user, _, password] = &login[..] else { panic!("{login:?}") };
    assert_eq!(user, &format!("node-{}", site.nodes[0]));
    let release = format!("{address}Release");
    assert_eq!(status_of(&release, user, password), 200);
    assert_eq!(status_of(&release, "", ""), 401, "no credentials");
    assert_eq!(status_of(&release, user, "wrong"), 401);
    assert_eq!(
        status_of(&release, &format!("node-{}", site.nodes[1]), password),
        401,
        "password of another node"
    );
    assert_eq!(
        status_of(&release.replace("repositories/ubuntu/Release", "metadata.yaml"), user, password),
        404
    );
    assert_eq!(
        status_of(&format!("{}/api/v1/plugins", site.url()), user, password),
        401,
        "the password is valid for packages only"
    );
    let plan = site.client.expect(200, "GET", "/api/v1/plans/2/instances", None).to_string();
    assert!(plan.contains("gridnet-repository"), "{plan}");
    assert!(!plan.contains(password.as_str()) && !site.read("server.log").contains(password.as_str()));

    // The package manager can use the repository.
    let output = site.apt(&["download", "gridnet-tool"]);
    assert!(output.status.success(), "{output:?}");
    let package = site.file("downloads/gridnet-tool_1.0_all.deb");
    let installed = site.file("data/plugins/gridnet-1.0/repositories/ubuntu/gridnet-tool.deb");
    assert_eq!(fs::read(&package).unwrap(), fs::read(installed).unwrap());
    let good = fs::read_to_string(&secret).unwrap();
    fs::write(&secret, good.replace(password.as_str(), "wrong")).unwrap();
    let output = site.apt(&["update"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("401"), "{output:?}");
    assert!(!output.status.success());
    fs::write(&secret, good).unwrap();

    // Only changes are deployed.
    assert_eq!(site.deploy_sources(), ["gridnet-repository skipped", "gridnet-repository-update skipped"]);
    site.package("gridnet", "2.0");
    edit(&site.file("gridnet/metadata.yaml"), "\nversion: '1.0.0'", "\nversion: '1.0.1'");
    site.run_ok(&["plugin", "install", "gridnet"]);
    assert_eq!(site.deploy_sources(), updated);
    let output = site.apt(&["download", "gridnet-tool"]);
    assert!(
        output.status.success() && site.file("downloads/gridnet-tool_2.0_all.deb").exists(),
        "{output:?}"
    );

    // Disabling the plugin removes the repository.
    site.run_ok(&["plugin", "disable", "gridnet", "--env", &env]);
    assert_eq!(status_of(&release, user, password), 403, "the plugin is no longer enabled");
    assert_eq!(site.deploy_sources(), updated);
    assert!(!secret.exists() && !sources_folder.join("stoker-gridnet.sources").exists());
    let remaining = fs::read_dir(site.file("node/var/lib/apt/lists")).unwrap();
    let remaining: Vec<String> =
        remaining.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!remaining.iter().any(|name| name.contains("gridnet")), "{remaining:?}");
    assert_eq!(site.deploy_sources(), Vec::<String>::new(), "no repository is left to remove");
    site.run_ok(&["plugin", "enable", "gridnet", "--env", &env]);
    assert_eq!(site.deploy_sources(), updated, "the repository is added again");
}

#[test]
fn revoked_node_cannot_read_packages() {
    if !has_apt() {
        return;
    }
    let mut site = Site::new(&stages());
    site.prepare_node();
    site.plugin_with_package("gridnet");
    site.run_ok(&["plugin", "install", "gridnet"]);
    site.run_ok(&["plugin", "enable", "gridnet", "--env", &site.cluster.to_string()]);
    site.deploy_sources();
    let secret = site.file("node/etc/apt/auth.conf.d/stoker-gridnet.conf");
    let login = words(&secret);
    let release = format!("{}Release", login[1]);
    assert_eq!(status_of(&release, &login[3], &login[5]), 200);
    site.run_ok(&["node", "revoke", &site.nodes[0].to_string()]);
    assert_eq!(status_of(&release, &login[3], &login[5]), 401);
    // A new agent of the node has a new password, which the next deployment installs.
    site.start_agent_in(0, "agent-new");
    site.await_agent(0);
    assert_eq!(status_of(&release, &login[3], &login[5]), 401);
    let updated = site.deploy_sources();
    assert_eq!(updated, ["gridnet-repository ready", "gridnet-repository-update ready"]);
    let login = words(&secret);
    assert_eq!(status_of(&release, &login[3], &login[5]), 200);
}
