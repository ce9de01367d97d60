//! Moving a cluster to another release, and back.

use serde_json::{Value, json};
use stoker_model::NewRelease;

use crate::beginnings::{create_release_from, release_body, send_with_header};
use crate::component_fixtures::{create, plugin_body, set_plugins_enabled, with_fields};
use crate::runs::{Site, task};

fn on_change(name: &str, roles: Value, cmd: &str) -> Value {
    task(name, roles, cmd, json!({"condition": {"yaql_exp": "inputsChanged()"}}))
}

/// Creates a deployed cluster of release 1, and release 2 with other tasks, settings and roles.
async fn create_site() -> Site {
    let site = Site::new(&json!([])).await;
    let tasks = json!([
        on_change("same", json!(["controller"]), "true"),
        on_change("changed", json!(["compute"]), "one"),
        on_change("gone", json!(["compute"]), "true"),
    ]);
    site.server.put("releases/1/deployment_tasks", &tasks).await.expect(200);
    let mut next = NewRelease { version: "newton-10.0".to_owned(), ..release_body() };
    let roles = json!({"controller": {"name": "Controller"}, "compute": {"name": "Compute"}, "ironic": {"name": "Ironic"}});
    next.roles_metadata = roles.as_object().unwrap().clone();
    let attributes = json!({
        "editable": {
            "common": {
                "metadata": {"label": "Common", "weight": 10},
                "debug": {"type": "checkbox", "value": false},
                "size": {"type": "number", "value": 3},
            },
            "external": {"dns": {"type": "text_list", "value": ["192.0.2.1"]}},
            "storage": {"fsid": {"type": "hidden", "value": {"generator": "uuid4"}}},
        },
        "generated": {"mysql": {"password": {"generator": "password"}}, "nova": {"password": {"generator": "password"}}},
    });
    next.attributes_metadata = attributes.as_object().unwrap().clone();
    let release = create_release_from(&site.server, next).await;
    let tasks = json!([
        on_change("same", json!(["controller"]), "true"),
        on_change("changed", json!(["compute"]), "two"),
        on_change("new", json!(["controller"]), "true"),
    ]);
    site.server.put(&format!("releases/{release}/deployment_tasks"), &tasks).await.expect(200);
    site
}

impl Site {
    async fn preview(&self, release: i64) -> Value {
        let path = format!("clusters/{}/release/preview", self.cluster);
        self.server.post(&path, &json!({"release_id": release})).await.expect(200)
    }

    async fn attributes(&self) -> Value {
        self.server.get(&format!("clusters/{}/attributes", self.cluster)).await.expect(200)
    }

    /// Returns the instances of a plan that run, with the reasons.
    async fn planned_to_run(&self) -> Vec<(String, String)> {
        let path = format!("clusters/{}/plans", self.cluster);
        let plan = self.server.post(&path, &json!({})).await.expect(201);
        let instances =
            self.server.get(&format!("plans/{}/instances?action=run", plan["id"])).await.expect(200);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let instances = instances.as_array().unwrap().iter();
        let running = instances.filter(|instance| instance["action"] == "run");
        running.map(|instance| (text(&instance["task"]), instance.to_string())).collect()
    }
}

fn changes<'v>(preview: &'v Value, list: &str, key: &str) -> Vec<(&'v str, &'v str)> {
    let items = preview[list].as_array().unwrap().iter();
    items.map(|item| (item[key].as_str().unwrap(), item["change"].as_str().unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_moves_to_another_release_and_back() {
    let site = Box::pin(create_site()).await;
    let path = format!("clusters/{}", site.cluster);
    let debug =
        json!({"editable": {"common": {"debug": {"value": true}, "puppet": {"value": "http://mine"}}}});
    site.server.put(&format!("{path}/attributes"), &debug).await.expect(200);
    assert_eq!(site.deploy(json!({})).await["status"], "ready");
    assert_eq!(site.planned_to_run().await, [], "everything is deployed");
    let before = (site.server.get(&path).await.expect(200), site.attributes().await);

    let preview = site.preview(2).await;
    assert_eq!(preview["to"], json!({"id": 2, "name": "R", "version": "newton-10.0"}));
    assert_eq!(
        preview["graphs"],
        json!([{"type": "default", "added": ["new"], "removed": ["gone"],
                "changed": [{"id": "changed", "fields": ["parameters"]}]}])
    );
    assert_eq!(
        changes(&preview, "settings", "path"),
        [
            ("common.debug.value", "kept"),
            ("common.puppet.value", "dropped"),
            ("common.size.value", "added"),
            ("external.dns.value", "defaulted"),
        ]
    );
    assert_eq!(preview["settings"][1]["old"], "http://mine");
    assert_eq!(preview["roles"], json!({"added": ["ironic"], "removed": ["ceph-osd"]}));
    assert_eq!((&preview["plugins"], &preview["errors"]), (&json!([]), &json!([])));
    assert_eq!(preview["warnings"], json!([]));
    let after = (site.server.get(&path).await.expect(200), site.attributes().await);
    assert_eq!(after, before, "a preview changes nothing");

    let plan = site.server.post(&format!("{path}/plans"), &json!({})).await.expect(201);
    let stale =
        send_with_header(&site.server, ("PUT", &path), ("if-match", "\"0\""), r#"{"release_id": 2}"#).await;
    stale.expect(412);
    let moved = site.server.put(&path, &json!({"release_id": 2})).await.expect(200);
    assert_eq!((&moved["release_id"], &moved["status"]), (&json!(2), &before.0["status"]));
    let settings = site.attributes().await;
    let common = &settings["editable"]["common"];
    assert_eq!((&common["debug"]["value"], &common["size"]["value"]), (&json!(true), &json!(3)));
    assert_eq!(common.get("puppet"), None);
    assert_eq!(
        settings["editable"]["storage"], before.1["editable"]["storage"],
        "a generated value survives"
    );
    assert_eq!(settings["generated"]["mysql"], before.1["generated"]["mysql"]);

    let apply = format!("plans/{}/apply", plan["id"]);
    site.server.post(&apply, &json!({})).await.expect_error(409);
    // Applied states stay: only changed definitions and new tasks run.
    let running = site.planned_to_run().await;
    let tasks: Vec<&str> = running.iter().map(|(task, _)| task.as_str()).collect();
    assert_eq!(tasks, ["changed", "new"], "{running:?}");
    assert_eq!(site.deploy(json!({})).await["status"], "ready");

    let back = site.preview(1).await;
    assert_eq!(
        (&back["graphs"][0]["added"], &back["graphs"][0]["removed"]),
        (&json!(["gone"]), &json!(["new"]))
    );
    site.server.put(&path, &json!({"release_id": 1})).await.expect(200);
    let settings = site.attributes().await;
    assert_eq!(settings["editable"]["common"]["debug"]["value"], json!(true));
    assert_eq!(settings["editable"]["storage"], before.1["editable"]["storage"]);
    assert_eq!(settings["generated"]["mysql"], before.1["generated"]["mysql"]);
    let running = site.planned_to_run().await;
    let tasks: Vec<&str> = running.iter().map(|(task, _)| task.as_str()).collect();
    assert!(tasks.contains(&"changed") && !tasks.contains(&"same"), "{tasks:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn impossible_move_is_refused_with_every_reason() {
    let site = Box::pin(create_site()).await;
    let path = format!("clusters/{}", site.cluster);
    let mut without_compute = NewRelease { version: "ocata-11.0".to_owned(), ..release_body() };
    without_compute.roles_metadata.remove("compute");
    without_compute.modes_metadata = json!({"multinode": {}}).as_object().unwrap().clone();
    let release = create_release_from(&site.server, without_compute).await;
    create(&site.server, "plugins", &plugin_body("addon", "1.0.0")).await;
    set_plugins_enabled(&site.server, site.cluster, &[("addon", true)]).await.expect(200);
    let before = site.server.get(&path).await.expect(200);
    let preview = site.preview(release).await;
    let messages = |response: &Value| -> Vec<String> {
        let errors = response["errors"].as_array().unwrap().iter();
        errors.map(|error| error["message"].as_str().unwrap().to_owned()).collect()
    };
    let expected = [
        "Cannot deploy in ha_compact mode in current release. Need to be one of: multinode".to_owned(),
        "plugin `addon` 1.0.0 is enabled, but neither it nor another installed version supports release `R` ocata-11.0"
            .to_owned(),
        format!("release `R` ocata-11.0 has no role `compute`, which node {} has", site.nodes[1]),
    ];
    assert_eq!(messages(&preview), expected, "{preview}");
    assert_eq!(changes(&preview, "plugins", "name"), [("addon", "incompatible")]);
    let refused = site.server.put(&path, &json!({"release_id": release})).await.expect(400);
    assert_eq!(messages(&refused), expected);
    assert_eq!(site.server.get(&path).await.expect(200), before, "nothing is stored");
    for (body, status, expected) in [
        (json!({"release_id": 99}), 400, "Invalid release ID"),
        (json!({}), 400, "`release_id` is missing"),
        (json!({"release_id": 2, "mode": "x"}), 400, "must be `ha_compact`"),
    ] {
        let error = site.server.post(&format!("{path}/release/preview"), &body).await.expect_error(status);
        assert!(error.contains(expected), "{body}: {error}");
    }
    site.server.post("clusters/99/release/preview", &json!({"release_id": 2})).await.expect_error(404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plugins_follow_the_release() {
    let site = Box::pin(create_site()).await;
    let for_release = |name: &str, version: &str, releases: &[&str]| {
        let entry = |release: &&str| json!({"os": "ubuntu", "version": release, "mode": ["ha"]});
        let releases: Vec<Value> = releases.iter().map(entry).collect();
        let mut attributes = json!({"level": {"type": "text", "value": "low"}});
        if version == "2.0.0" {
            attributes["secret"] = json!({"type": "password", "value": {"generator": "password"}});
        }
        with_fields(
            plugin_body(name, version),
            json!({"releases": releases, "attributes_metadata": attributes}),
        )
    };
    for (name, version, releases) in [
        ("both", "1.0.0", &["mitaka-9.0", "newton-10.0"][..]),
        ("split", "1.0.0", &["mitaka-9.0"][..]),
        ("split", "2.0.0", &["newton-10.0"][..]),
        ("old", "1.0.0", &["mitaka-9.0"][..]),
        ("fresh", "1.0.0", &["newton-10.0"][..]),
    ] {
        create(&site.server, "plugins", &for_release(name, version, releases)).await;
    }
    set_plugins_enabled(&site.server, site.cluster, &[("both", true), ("split", true)]).await.expect(200);
    let path = format!("clusters/{}", site.cluster);
    let level = json!({"editable": {"split": {"level": {"value": "high"}}}});
    site.server.put(&format!("{path}/attributes"), &level).await.expect(200);
    let preview = site.preview(2).await;
    assert_eq!(
        changes(&preview, "plugins", "name"),
        [("both", "kept"), ("fresh", "available"), ("old", "unavailable"), ("split", "replaced")]
    );
    assert_eq!(preview["plugins"][3]["new_version"], "2.0.0");
    site.server.put(&path, &json!({"release_id": 2})).await.expect(200);
    let split = site.attributes().await["editable"]["split"].clone();
    let versions = split["metadata"]["versions"].as_array().unwrap();
    assert_eq!((&split["metadata"]["enabled"], versions.len()), (&json!(true), 1), "{split}");
    assert_eq!(versions[0]["metadata"]["plugin_version"], "2.0.0");
    assert_eq!(versions[0]["level"]["value"], "high", "the operator's value moves to the new version");
    let secret = versions[0]["secret"]["value"].clone();
    assert!(secret.as_str().is_some_and(|secret| secret.len() > 8), "{secret}");
    let back = site.preview(1).await;
    let replaced =
        back["plugins"].as_array().unwrap().iter().find(|plugin| plugin["name"] == "split").unwrap();
    assert_eq!((&replaced["change"], &replaced["new_version"]), (&json!("replaced"), &json!("1.0.0")));
    for release in [1, 2] {
        site.server.put(&path, &json!({"release_id": release})).await.expect(200);
    }
    let split = site.attributes().await["editable"]["split"].clone();
    assert_eq!(split["metadata"]["versions"][0]["secret"]["value"], secret, "a generated value survives");
}

#[tokio::test]
async fn overrides_of_missing_tasks_refuse_the_move() {
    let site = Box::pin(create_site()).await;
    let path = format!("clusters/{}/deployment_tasks", site.cluster);
    let overrides =
        json!([{"id": "gone", "parameters": {"cmd": "two"}}, {"id": "same", "parameters": {"cmd": "two"}}]);
    site.server.put(&path, &overrides).await.expect(200);
    let preview = site.preview(2).await;
    assert_eq!(preview["errors"].as_array().unwrap().len(), 1, "{preview}");
    let cluster = format!("clusters/{}", site.cluster);
    let message = site.server.put(&cluster, &json!({"release_id": 2})).await.expect_error(400);
    assert!(message.contains("task `gone` of graph `default` overrides a task"), "{message}");
    assert_eq!(site.server.get(&cluster).await.expect(200)["release_id"], 1);
}

#[tokio::test]
async fn preview_shows_violated_limits_of_roles() {
    let site = Box::pin(create_site()).await;
    let mut limited = NewRelease { version: "ocata-11.0".to_owned(), ..release_body() };
    limited.roles_metadata["compute"] = json!({"name": "Compute", "limits": {"max": 0}});
    limited.roles_metadata["controller"] =
        json!({"name": "Controller", "limits": {"min": 3, "message": "Three are a quorum"}});
    let release = create_release_from(&site.server, limited).await;
    let preview = site.preview(release).await;
    assert_eq!(preview["errors"], json!([]), "limits do not refuse the move");
    let codes: Vec<&str> =
        preview["warnings"].as_array().unwrap().iter().map(|item| item["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["role-maximum", "role-minimum"], "{preview}");
    assert!(preview["warnings"][1]["message"].as_str().unwrap().starts_with("Three are a quorum"));
    let path = format!("clusters/{}", site.cluster);
    site.server.put(&path, &json!({"release_id": release})).await.expect(200);
}
