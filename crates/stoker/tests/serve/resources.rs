//! Resources with a real agent: what an attempt, a dry run and the history report.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::site::Site;

fn tasks(folder: &Path, content: &str) -> Value {
    let path = |name: &str| folder.join(name).display().to_string();
    let task = |id: &str, task_type: &str, parameters: Value, more: Value| {
        let mut task = json!({
            "id": id, "type": task_type, "version": "3.0.0", "roles": ["controller"], "parameters": parameters,
        });
        for (key, value) in more.as_object().unwrap() {
            task[key] = value.clone();
        }
        task
    };
    let after = |names: &[&str]| json!({"requires": names});
    json!([
        task("folder", "directory", json!({"path": path("etc"), "mode": "0750"}), json!({})),
        task(
            "config",
            "file",
            json!({"path": path("etc/a.conf"), "content": content, "mode": "0640"}),
            after(&["folder"])
        ),
        task(
            "port",
            "line",
            json!({"path": path("etc/a.conf"), "line": "port 80", "create": true}),
            after(&["config"])
        ),
        task("current", "link", json!({"path": path("etc/current"), "target": "a.conf"}), after(&["port"])),
        task(
            "reload",
            "command",
            json!({"cmd": format!("echo reload >>{}", path("reloads"))}),
            json!({"refresh_on": ["port"]}),
        ),
    ])
}

fn row<'h>(history: &'h [Value], task: &str) -> &'h Value {
    history.iter().find(|row| row["task_name"] == task && row["status"] != "skipped").unwrap()
}

fn metric(site: &Site, changed: &str) -> u64 {
    let name = format!("stoker_attempt_changes_total{{changed=\"{changed}\"}} ");
    let text = site.client.text("/metrics");
    text.lines().find_map(|line| line.strip_prefix(&name)).map_or(0, |value| value.trim().parse().unwrap())
}

#[test]
fn resources_converge_and_report_what_they_changed() {
    let site = Site::new(&json!([]));
    let folder = site.file("host");
    fs::create_dir(&folder).unwrap();
    let config = folder.join("etc/a.conf");
    let read = || fs::read_to_string(&config).unwrap();
    site.upload(&tasks(&folder, "name a\n"));

    // A noop run reports what an attempt would change, and changes nothing.
    let noop = site.deploy(&json!({"noop_run": true}));
    assert_eq!(noop["status"], "ready", "{noop}");
    let dry = site.history(noop["id"].as_i64().unwrap());
    assert!(!folder.join("etc").exists());
    assert_eq!((metric(&site, "true"), metric(&site, "false")), (0, 0), "noop runs are not counted");

    let first = site.deploy(&json!({}));
    assert_eq!(first["status"], "ready", "{first}");
    assert_eq!(first["effects"], json!({"changed": 5, "unchanged": 0, "unknown": 0}));
    let history = site.history(first["id"].as_i64().unwrap());
    let subject = config.display().to_string();
    let content = json!({"subject": subject, "attribute": "content", "text": "@@ -0,0 +1 @@\n+name a\n"});
    for task in ["folder", "config"] {
        assert_eq!(row(&dry, task)["diff"], row(&history, task)["diff"], "{task}");
    }
    assert_eq!(row(&history, "config")["diff"][1], content);
    assert_eq!(row(&history, "reload")["changed"], true);
    assert_eq!(
        (read().as_str(), fs::read_to_string(folder.join("reloads")).unwrap().as_str()),
        ("name a\nport 80\n", "reload\n")
    );
    assert_eq!(fs::metadata(&config).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!((metric(&site, "true"), metric(&site, "false")), (5, 0));

    // Without changed inputs nothing runs.
    let second = site.deploy(&json!({}));
    assert_eq!(second["effects"], json!({"changed": 0, "unchanged": 0, "unknown": 0}), "{second}");

    // A file that was edited by hand is repaired when its task runs, and the handler is not triggered by the rest.
    fs::write(&config, "name a\nport 80\nextra\n").unwrap();
    let forced = json!({"force": true});
    let third = site.deploy(&forced);
    assert_eq!(third["effects"], json!({"changed": 3, "unchanged": 2, "unknown": 0}), "{third}");
    let history = site.history(third["id"].as_i64().unwrap());
    let repaired = json!([{"subject": subject, "attribute": "content", "text": "@@ -1,3 +1 @@\n name a\n-port 80\n-extra\n"}]);
    assert_eq!((&row(&history, "config")["diff"], read().as_str()), (&repaired, "name a\nport 80\n"));
    assert_eq!(row(&history, "folder")["changed"], false);
    assert_eq!(fs::read_to_string(folder.join("reloads")).unwrap(), "reload\nreload\n");

    // Masked values appear in no diff.
    let hidden = folder.join("secret").display().to_string();
    let parameters = json!({"path": hidden, "content": "hunter2hunter2", "show_diff": false});
    site.upload(&json!([{"id": "secret", "type": "file", "version": "3.0.0", "roles": ["controller"], "parameters": parameters}]));
    let fourth = site.deploy(&json!({}));
    let history = site.history(fourth["id"].as_i64().unwrap());
    assert_eq!(row(&history, "secret")["changed"], true);
    assert!(!row(&history, "secret")["diff"].to_string().contains("hunter2"));
}

#[test]
fn a_failure_names_path_and_cause_and_what_was_changed_before() {
    let site = Site::new(&json!([]));
    let folder = site.file("host");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("taken"), "").unwrap();
    let path = folder.join("taken").display().to_string();
    site.upload(&json!([{
        "id": "folder", "type": "directory", "version": "3.0.0", "roles": ["controller"], "parameters": {"path": path},
    }]));
    let run = site.deploy(&json!({}));
    assert_eq!(run["status"], "error", "{run}");
    assert_eq!(run["effects"], json!({"changed": 0, "unchanged": 0, "unknown": 1}));
    let history = site.history(run["id"].as_i64().unwrap());
    let reason = row(&history, "folder")["reason"].as_str().unwrap().to_owned();
    assert_eq!(reason, format!("`{path}` is a file, not a directory"));
}
