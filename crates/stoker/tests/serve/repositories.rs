//! Packages of plugins, from a file in the folder of an author to the package manager of a node.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::plugins::edit;
use crate::site::Site;

/// Whether the tools of Debian are here.
fn has_apt() -> bool {
    let is_here = |tool: &str| Command::new(tool).arg("--version").output().is_ok();
    let are_here = is_here("apt-get") && is_here("dpkg-deb");
    if !are_here {
        eprintln!("apt-get or dpkg-deb is not here; what they do with packages of plugins is left out");
    }
    are_here
}

impl Site {
    /// A plugin with a package in it.
    fn plugin_with_package(&self, name: &str) {
        self.plugin(name, &["pre_deployment/10"]);
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
        let made = Command::new("dpkg-deb").arg("-b").args([&tree, &target]).output().unwrap();
        assert!(made.status.success(), "{made:?}");
    }

    /// What the disk of a node has before anything is deployed.
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

    /// Tasks that bring or take away sources, with what became of them on the controller.
    fn source_tasks(&self, run: &Value) -> Vec<String> {
        let history = self.history(run["id"].as_i64().unwrap());
        let controller = self.nodes[0].to_string();
        let of = |row: &Value| {
            let name = row["task_name"].as_str().unwrap();
            let is_it = name.contains("-repository") && row["node_id"] == controller.as_str();
            is_it.then(|| format!("{name} {}", row["status"].as_str().unwrap()))
        };
        let mut found: Vec<String> = history.iter().filter_map(of).collect();
        found.sort();
        found
    }

    fn deployed(&self) -> Vec<String> {
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
        let shown = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
        request = request.header("authorization", format!("Basic {shown}"));
    }
    request.call().unwrap().status().as_u16()
}

fn words(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().split_whitespace().map(str::to_owned).collect()
}

#[test]
fn packages_come_with_a_plugin_and_go_with_it() {
    if !has_apt() {
        return;
    }
    let site = Site::new(&stages());
    site.prepare_node();
    site.plugin_with_package("gridnet");
    let listed = site.file("node/etc/apt/sources.list.d");
    let (from, to) = (" >>", format!("; ls {} >>", listed.display()));
    edit(&site.file("gridnet/tasks.yaml"), from, &to);
    let archive = site.done(&["plugin", "build", "gridnet", "--output-dir", "dist"]);
    site.done(&["plugin", "install", archive.trim_end()]);
    let env = site.cluster.to_string();
    assert_eq!(site.deployed(), Vec::<String>::new(), "it is not enabled");
    site.done(&["plugin", "enable", "gridnet", "--env", &env]);
    let done = ["gridnet-repository ready", "gridnet-repository-update ready"];
    assert_eq!(site.deployed(), done);
    assert_eq!(site.read("trace"), "stoker-gridnet.sources\n", "it is there before tasks of the plugin run");

    // Who may read what.
    let secret = site.file("node/etc/apt/auth.conf.d/stoker-gridnet.conf");
    assert_eq!(fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
    let shown = words(&secret);
    let [_, address, _, user, _, password] = &shown[..] else { panic!("{shown:?}") };
    assert_eq!(user, &format!("node-{}", site.nodes[0]));
    let release = format!("{address}Release");
    assert_eq!(status_of(&release, user, password), 200);
    assert_eq!(status_of(&release, "", ""), 401, "nobody");
    assert_eq!(status_of(&release, user, "wrong"), 401);
    assert_eq!(status_of(&release, &format!("node-{}", site.nodes[1]), password), 401, "of another node");
    assert_eq!(
        status_of(&release.replace("repositories/ubuntu/Release", "metadata.yaml"), user, password),
        404
    );
    assert_eq!(
        status_of(&format!("{}/api/v1/plugins", site.url()), user, password),
        401,
        "for packages alone"
    );
    let plan = site.client.expect(200, "GET", "/api/v1/plans/2/instances", None).to_string();
    assert!(plan.contains("gridnet-repository"), "{plan}");
    assert!(!plan.contains(password.as_str()) && !site.read("server.log").contains(password.as_str()));

    // What the package manager makes of it.
    let got = site.apt(&["download", "gridnet-tool"]);
    assert!(got.status.success(), "{got:?}");
    let package = site.file("downloads/gridnet-tool_1.0_all.deb");
    let installed = site.file("data/plugins/gridnet-1.0/repositories/ubuntu/gridnet-tool.deb");
    assert_eq!(fs::read(&package).unwrap(), fs::read(installed).unwrap());
    let good = fs::read_to_string(&secret).unwrap();
    fs::write(&secret, good.replace(password.as_str(), "wrong")).unwrap();
    let refused = site.apt(&["update"]);
    assert!(String::from_utf8_lossy(&refused.stdout).contains("401"), "{refused:?}");
    assert!(!refused.status.success());
    fs::write(&secret, good).unwrap();

    // Only what is new is brought again.
    assert_eq!(site.deployed(), ["gridnet-repository skipped", "gridnet-repository-update skipped"]);
    site.package("gridnet", "2.0");
    edit(&site.file("gridnet/metadata.yaml"), "\nversion: '1.0.0'", "\nversion: '1.0.1'");
    site.done(&["plugin", "install", "gridnet"]);
    assert_eq!(site.deployed(), done);
    let got = site.apt(&["download", "gridnet-tool"]);
    assert!(got.status.success() && site.file("downloads/gridnet-tool_2.0_all.deb").exists(), "{got:?}");

    // It goes with the plugin.
    site.done(&["plugin", "disable", "gridnet", "--env", &env]);
    assert_eq!(status_of(&release, user, password), 403, "the plugin is no longer enabled");
    assert_eq!(site.deployed(), done);
    assert!(!secret.exists() && !listed.join("stoker-gridnet.sources").exists());
    let left = fs::read_dir(site.file("node/var/lib/apt/lists")).unwrap();
    let left: Vec<String> = left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!left.iter().any(|name| name.contains("gridnet")), "{left:?}");
    assert_eq!(site.deployed(), Vec::<String>::new(), "nothing is left to take away");
    site.done(&["plugin", "enable", "gridnet", "--env", &env]);
    assert_eq!(site.deployed(), done, "and comes again");
}

#[test]
fn a_node_whose_agent_is_sent_away_reads_no_packages() {
    if !has_apt() {
        return;
    }
    let mut site = Site::new(&stages());
    site.prepare_node();
    site.plugin_with_package("gridnet");
    site.done(&["plugin", "install", "gridnet"]);
    site.done(&["plugin", "enable", "gridnet", "--env", &site.cluster.to_string()]);
    site.deployed();
    let secret = site.file("node/etc/apt/auth.conf.d/stoker-gridnet.conf");
    let shown = words(&secret);
    let release = format!("{}Release", shown[1]);
    assert_eq!(status_of(&release, &shown[3], &shown[5]), 200);
    site.done(&["node", "revoke", &site.nodes[0].to_string()]);
    assert_eq!(status_of(&release, &shown[3], &shown[5]), 401);
    // Another agent of the node has another password, and gets it with the next deployment.
    site.start_agent_in(0, "agent-new");
    site.await_agent(0);
    assert_eq!(status_of(&release, &shown[3], &shown[5]), 401);
    let done = site.deployed();
    assert_eq!(done, ["gridnet-repository ready", "gridnet-repository-update ready"]);
    let shown = words(&secret);
    assert_eq!(status_of(&release, &shown[3], &shown[5]), 200);
}
