//! Another server takes over a run whose agent died during an attempt. What the attempt did is unknown, so plans of every
//! server run the task again.

use std::fs;

use serde_json::{Value, json};

use crate::site::{N_NODES, Site, until};

/// Hangs on a node while a file for it exists.
const SCRIPT: &str = "[ -e $2/hang-$1 ] || exit 0; touch $2/hanging; exec sleep 600\n";

struct Doubt {
    site: Site,
    version: u64,
}

impl Doubt {
    /// Changes the definition of the task, so that the next run executes it on all nodes.
    fn edit(&mut self) {
        self.version += 1;
        let folder = self.site.file("").display().to_string();
        let cmd = format!("'sh {folder}/task.sh ' + $.uid + ' {folder} # {}'", self.version);
        self.site.upload(&json!([{
            "id": "install", "type": "shell", "version": "3.0.0", "roles": "*",
            "parameters": {"cmd": {"yaql_exp": cmd}, "retries": 0, "timeout": 900},
        }]));
    }

    /// The instances that a new plan of a server runs, with the reasons.
    fn planned(&self, server: usize) -> Vec<(String, String)> {
        let path = format!("/api/v1/clusters/{}/plans", self.site.cluster);
        let plan = self.site.post(server, 201, &path, &json!({}));
        let instances = self.site.get(server, &format!("/api/v1/plans/{}/instances?action=run", plan["id"]));
        let text = |instance: &Value, key: &str| instance[key].as_str().unwrap().to_owned();
        let instances = instances.unwrap();
        let instances = instances.as_array().unwrap().iter();
        instances.map(|instance| (text(instance, "node"), text(instance, "reason"))).collect()
    }

    /// Starts a run and kills the agent of the first node during its attempt, and then the driver. Returns the run and the
    /// server that has taken over.
    fn lose_agent_and_driver(&mut self) -> (i64, usize) {
        let node = self.site.nodes[0];
        fs::write(self.site.file(&format!("hang-{node}")), "").unwrap();
        self.edit();
        let (run, child) = self.site.execute(0);
        until("the task hangs", || self.site.file("hanging").exists().then_some(()));
        self.site.kill_agent(0);
        fs::remove_file(self.site.file("hanging")).unwrap();
        fs::remove_file(self.site.file(&format!("hang-{node}"))).unwrap();
        let driver = until("the run has a driver", || self.site.driver(child));
        self.site.kill_server(driver);
        let other =
            until("the other server takes over", || self.site.driver(child).filter(|next| *next != driver));
        self.site.start_server(driver);
        (run, other)
    }

    fn check(&self) {
        for server in 0..self.site.servers.len() {
            let planned = self.planned(server);
            assert_eq!(planned.len(), 1, "{planned:?}");
            assert_eq!(planned[0].0, self.site.nodes[0].to_string());
            assert!(planned[0].1.contains("previous state unknown"), "{planned:?}");
        }
    }

    fn repair(&self) {
        let (run, _) = self.site.execute(0);
        assert_eq!(self.site.wait_for_end(run)["status"], "ready");
        assert_eq!(self.planned(1), []);
    }
}

#[test]
fn takeover_keeps_the_doubt_about_a_lost_attempt() {
    let Some(mut site) = Site::new(2, &["--lease", "2"]) else { return };
    for _ in 0..N_NODES {
        site.start_agent(&[0, 1]);
    }
    fs::write(site.file("task.sh"), SCRIPT).unwrap();
    let mut doubt = Doubt { site, version: 0 };
    doubt.edit();
    doubt.repair();

    // The agent returns and reports the attempt as interrupted.
    let (run, _) = doubt.lose_agent_and_driver();
    doubt.site.restart_agent(0, &[0, 1]);
    assert_eq!(doubt.site.wait_for_end(run)["status"], "error");
    doubt.check();
    doubt.repair();

    // The run is deleted while the agent is away.
    let (run, other) = doubt.lose_agent_and_driver();
    let (site, path) = (&doubt.site, format!("/api/v1/transactions/{run}?force=1"));
    until("the run is deleted", || {
        _ = site.client.call(&site.servers[other], "DELETE", &path, None);
        site.get(other, "/api/v1/transactions/")?
            .as_array()?
            .iter()
            .all(|left| left["id"] != run)
            .then_some(())
    });
    doubt.site.restart_agent(0, &[0, 1]);
    doubt.check();
    doubt.repair();
}
