//! Clusters, nodes, settings, facts, roles, tags and sequences.

use serde_json::json;

use crate::fixture::CliFixture;

#[test]
fn clusters_are_created_updated_and_deleted() {
    let cli = CliFixture::with_cluster();
    cli.show("env create shop --release 1");
    cli.show("env create other --release 9");
    cli.show("cluster create other --release 1 --quiet");
    cli.show("cluster create third --release 1");
    cli.show("env update 2 --name another");
    cli.show("env show 2");
    cli.show("env show 2 -o json");
    cli.show("env show 2 -o yaml");
    cli.show("env list");
    cli.show("env list --quiet");
    cli.show("env delete --env 2");
    cli.show("env show 2");
    cli.show("release delete 1");
    insta::assert_snapshot!("env", cli.transcript());
}

#[test]
fn releases_are_created_and_updated() {
    let cli = CliFixture::with_cluster();
    let release = "name: Farm\nversion: \"1.0\"\noperating_system: debian\n";
    cli.show_with("release create --file -", release);
    cli.show("env create farm --release 2");
    cli.show_with("release update 2 --file -", "state: availble\n");
    cli.show_with("release update 2 --file -", &format!("{release}state: available\n"));
    cli.show("release show 2");
    cli.show("env create farm --release 2");
    cli.show_with("release update 9 --file -", release);
    insta::assert_snapshot!("release", cli.transcript());
}

#[test]
fn cluster_moves_to_another_release() {
    let cli = CliFixture::with_cluster();
    let client = cli.server.client();
    let mut next = client.expect(200, "GET", "/api/v1/releases/1", None);
    next["version"] = json!("2.0-10.0");
    next["roles_metadata"]["cache"] = json!({"name": "Cache"});
    next["attributes_metadata"] = json!({"editable": {"common": {"size": {"type": "number", "value": 3}}}});
    next["deployment_tasks"] =
        json!([{"id": "warm-up", "type": "shell", "role": "cache", "parameters": {"cmd": "true"}}]);
    client.expect(201, "POST", "/api/v1/releases", Some(&next));
    next["version"] = json!("3.0-10.0");
    next["roles_metadata"] = json!({"cache": {"name": "Cache"}});
    client.expect(201, "POST", "/api/v1/releases", Some(&next));
    cli.show("env update 1 --dry-run");
    cli.show("env update 1 --release 9 --dry-run");
    cli.show("env update 1 --release 2 --dry-run");
    cli.show("env update 1 --release 2");
    cli.show("env update 1 --release 2 --dry-run");
    cli.show("env update 1 --release 1");
    cli.show("env update 1 --release 3 --dry-run");
    cli.show("env update 1 --release 3");
    insta::assert_snapshot!("env-release", cli.transcript());
}

#[test]
fn nodes_are_created_assigned_and_deleted() {
    let cli = CliFixture::with_cluster();
    cli.show("node create --mac 52:54:00:00:00:04 --name node-4");
    cli.show("node create --mac 52:54:00:00:00:02");
    cli.show("node update 1 --name first --label rack=7 --label row=3");
    cli.show("node update 1 --remove-label row");
    assert_eq!(cli.run("node show 1 -o json").json()["labels"], json!({"rack": "7"}));
    cli.show("node show 1");
    cli.show("env add nodes 1 --node 1 --role king");
    cli.show("env remove nodes 1 --node 3 -o json");
    cli.show("env add nodes 1 --node 3 --role web -o json");
    cli.show("env remove nodes 1 --node 3");
    cli.show("node list");
    cli.show("node list --free -q");
    cli.show("node list --env 1 -q");
    cli.show("env remove nodes 1 --all");
    cli.show("node delete 1 3");
    cli.show("node list -q");
    insta::assert_snapshot!("node", cli.transcript());
}

#[test]
fn nodes_are_removed_and_replaced() {
    let cli = CliFixture::with_cluster();
    cli.show("node remove no-such-node");
    cli.show("node create --mac 52:54:00:00:00:04 --name twin");
    cli.show("node create --mac 52:54:00:00:00:05 --name twin");
    cli.show("node remove twin");
    cli.show("node remove 4");
    for node in 1..=3 {
        let deployed =
            json!({"status": "ready", "pending_addition": false, "roles": ["web"], "pending_roles": []});
        cli.server.client().expect(200, "PUT", &format!("/api/v1/nodes/{node}"), Some(&deployed));
    }
    cli.show("node replace node-1 1");
    cli.show("node replace twin");
    cli.show("node list --env 1");
    cli.show("node remove 2 node-2 1");
    cli.show("node list --env 1");
    cli.show("env remove nodes 1 --node 3");
    cli.show("env remove nodes 1 --node 2 --now");
    cli.show("node remove node-3 --now -o json");
    cli.show("node list --env 1 -q");
    insta::assert_snapshot!("node-remove", cli.transcript());
}

#[test]
fn settings_are_downloaded_and_uploaded() {
    let cli = CliFixture::with_cluster();
    cli.show("settings show 1");
    cli.show("settings set --env 1 common.debug=true");
    cli.show("env settings download --env 1 --file settings.yaml");
    insta::assert_snapshot!("settings-file", cli.read("settings.yaml"));
    cli.show("settings set --env 1 comon.debug=1");
    cli.write("settings.yaml", "editable:\n  common:\n    debug: {value: [1}\n");
    cli.show("settings upload 1 --file settings.yaml");
    cli.write("settings.yaml", "editable:\n  common:\n    debug: {value: false}\n");
    cli.show("env settings upload --env 1 --file settings.yaml");
    cli.show("settings show 1 -o json");
    cli.show("settings reset 1");
    cli.show("settings reset 1 --yes");
    cli.show("settings show 1 --deployed");
    cli.show("settings download --env 1 --file /nonexist/x");
    insta::assert_snapshot!("settings", cli.transcript());
}

#[test]
fn facts_are_downloaded_and_uploaded() {
    let cli = CliFixture::with_cluster();
    cli.show("facts download 1 --node 1 --file facts.yaml");
    assert!(cli.read("facts.yaml").contains("uid: '1'"));
    cli.show("facts upload 1 --file facts.yaml");
    assert_eq!(cli.run("env show 1 -o json").json()["is_customized"], true);
    cli.show("facts delete 1");
    assert_eq!(cli.run("env show 1 -o json").json()["is_customized"], false);
    insta::assert_snapshot!("facts", cli.transcript());
}

#[test]
fn roles_and_tags_are_managed_as_documents() {
    let cli = CliFixture::with_cluster();
    cli.write("tag.yaml", "name: edge\nmeta: {has_primary: true}\n");
    cli.write("role.yaml", "name: edge\nmeta: {name: Edge, description: At the border, tags: [edge]}\n");
    cli.show("role create --env 1 --file role.yaml");
    cli.show("tag create --env 1 --file tag.yaml");
    cli.show("role create --env 1 --file role.yaml");
    cli.show("role list --env 1");
    cli.show("role list --release 1 -q");
    cli.show("tag list --env 1");
    cli.show("role show --env 1 edge");
    // A cluster inherits the roles of its release.
    cli.show("role show --env 1 web -o json");
    cli.show("role show --env 1 no-such-role");
    cli.write("role.yaml", "name: edge\nmeta: {name: Edge, description: Beyond, tags: [edge]}\n");
    cli.show("role update --env 1 edge --file role.yaml");
    cli.show("role delete --env 1 edge");
    cli.show("role delete --env 1 edge");
    cli.show("tag delete --env 1 edge");
    insta::assert_snapshot!("role", cli.transcript());
}

#[test]
fn sequences_are_managed_and_executed() {
    let cli = CliFixture::with_cluster();
    cli.show("sequence create --release 1 --name all --graph one,two");
    cli.show("sequence create --release 1 --name all --graph one");
    cli.show("sequence update 1 --name both --graph default");
    cli.show("sequence list --env 1");
    cli.show("sequence show 1");
    cli.show("sequence execute 1 --env 1 --dry-run --follow");
    cli.show("sequence delete 1");
    cli.show("sequence show 1");
    insta::assert_snapshot!("sequence", cli.transcript());
}

#[test]
fn wizard_creates_a_cluster() {
    let cli = CliFixture::with_cluster();
    cli.show("wizard show --release 1");
    // Two defaults, an invalid answer, an option by number, the name, and the confirmation.
    cli.show_with("wizard run --release 1", "\n\nseven\n1\nby-hand\ny\n");
    let cluster = cli.run("env show 2 -o json").json();
    assert_eq!(cluster["components"], json!(["hypervisor:core:kvm", "network:ml2:vlan"]));
    cli.show("wizard run --release 1 --name other --defaults --answer Compute.vcenter=true --yes --quiet");
    cli.show("wizard run --release 1 --name third --defaults");
    cli.show("wizard run --release 1 --name x --defaults --answer Network.manager=no --yes");
    cli.show("wizard run --release 1 --answer x");
    cli.show("wizard run --release 1");
    cli.show("wizard show --release 9");
    insta::assert_snapshot!("wizard", cli.transcript());
}

#[test]
fn generated_wizard_is_shown_and_answered() {
    let cli = CliFixture::new();
    let release = json!({
        "name": "Nova", "version": "nova-10.0", "operating_system": "Ubuntu", "state": "available",
        "modes_metadata": {"ha_compact": {}}, "required_component_types": ["hypervisor"],
        "wizard_metadata": {}, "components_metadata": [
            {"name": "hypervisor:qemu", "label": "QEMU-KVM", "description": "Emulation", "default": true,
             "incompatible": [{"name": "hypervisor:vmware"}]},
            {"name": "hypervisor:vmware", "label": "vCenter", "requires": [{"any_of": {"items": ["network:dvs:*"]}}]},
            {"name": "network:ml2:vlan", "label": "VLAN", "default": true, "incompatible": [{"name": "network:ml2:tun"}]},
            {"name": "network:ml2:tun", "label": "Tunnels", "description": "Tenant networks in tunnels"},
            {"name": "additional_service:ironic", "label": "Ironic", "description": "Bare metal",
             "incompatible": [{"name": "network:ml2:tun", "message": "Ironic needs VLAN"}]},
        ],
    });
    cli.write("release.json", &release.to_string());
    let path = cli.folder.file("release.json");
    cli.run_args(&["release", "create", "--file", path.to_str().unwrap()], "").ok();
    cli.show("wizard show --release 1");
    // An option that is not available, the default, tunnels, the name, and the confirmation.
    cli.show_with("wizard run --release 1", "2\n\n3\nby-hand\ny\n");
    cli.show("wizard run --release 1 --name tunnels --defaults --answer Network.manager=tun --yes");
    let components = cli.run("env show 2 -o json").json()["components"].clone();
    assert_eq!(components, json!(["hypervisor:qemu", "network:ml2:tun"]));
    cli.show("wizard run --release 1 --name x --defaults --answer Network.manager=tun --answer AdditionalServices.ironic=true --yes");
    cli.show("wizard run --release 1 --name x --defaults --answer Compute.hypervisor=vmware --yes");
    insta::assert_snapshot!("generated-wizard", cli.transcript());
}
