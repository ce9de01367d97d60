//! Drift with real agents and the commands: a file that is edited by hand is found, shown and repaired.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::site::Site;

impl Site {
    fn drift_command(&self, arguments: &[&str]) -> (i32, String) {
        let env = self.cluster.to_string();
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--env", &env]).collect();
        let Output { status, stdout, stderr } = self.stoker(&arguments);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), format!("{}{}", text(stdout), text(stderr)))
    }
}

#[test]
fn a_file_that_was_edited_by_hand_is_found_and_repaired() {
    let site = Site::new(&json!([]));
    (0..site.nodes.len()).for_each(|node_idx| site.await_agent(node_idx));
    let path = site.file("shop.conf").display().to_string();
    let task = |more: Value| {
        let mut task = json!({
            "id": "config", "type": "file", "version": "3.0.0", "roles": ["controller"],
            "parameters": {"path": path, "content": "port 8080\n"},
        });
        for (key, value) in more.as_object().unwrap() {
            task[key] = value.clone();
        }
        json!([task])
    };
    site.upload(&task(json!({})));
    let node = site.nodes[0];
    assert_eq!(site.drift_command(&["drift"]).0, 0, "nothing was applied");
    assert_eq!(site.deploy(&json!({}))["status"], "ready");
    let in_sync = "1 in sync, 0 changed in configuration, 0 drifted, 0 unknown\n";
    assert_eq!(site.drift_command(&["drift"]), (0, in_sync.to_owned()));

    fs::write(&path, "port 9090\n").unwrap();
    let (code, text) = site.drift_command(&["drift", "--node", &node.to_string(), "--task", "config"]);
    let diff = format!("  {path}: content\n    @@ -1 +1 @@\n    -port 9090\n    +port 8080\n");
    let found = format!(
        "config on {node}: drifted\n{diff}\n0 in sync, 0 changed in configuration, 1 drifted, 0 unknown\n"
    );
    assert_eq!((code, text), (2, found));
    assert_eq!(fs::read_to_string(&path).unwrap(), "port 9090\n", "a check changes nothing");
    let (code, json) = site.drift_command(&["drift", "--output", "json"]);
    let results: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (code, &results[0]["status"], &results[0]["node"]),
        (2, &json!("drifted"), &json!(node.to_string()))
    );

    let (code, text) = site.drift_command(&["apply", "--yes"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("drifted: the last check found that the node differs"), "{text}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "port 8080\n");
    assert_eq!(site.drift_command(&["drift"]), (0, in_sync.to_owned()));

    // Without a check nothing is repaired; with `--refresh` the plan shows and repairs the drift.
    fs::remove_file(&path).unwrap();
    assert!(site.drift_command(&["plan"]).1.contains("No changes"));
    let (code, text) = site.drift_command(&["plan", "--refresh", "--detailed-exitcode"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("state (absent) → present") && text.contains("1 drifted"), "{text}");
    let (code, text) = site.drift_command(&["apply", "--refresh", "--yes"]);
    assert_eq!((code, fs::read_to_string(&path).unwrap().as_str()), (0, "port 8080\n"), "{text}");

    // Errors have code 1, invalid usage included.
    assert_eq!(site.drift_command(&["drift", "--node", "99"]).0, 1);
    assert_eq!(site.drift_command(&["drift", "--no-such-option"]).0, 1);
}
