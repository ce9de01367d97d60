//! Clusters, nodes, settings, facts, roles, tags and sequences.

use serde_json::json;

use crate::desk::Desk;

#[test]
fn clusters_and_nodes_are_made_changed_and_deleted() {
    let desk = Desk::with_cluster();
    desk.run("env create shop --release 1").fails(1, &["already exists"]);
    desk.run("env create other --release 9").fails(1, &["release"]);
    let id = desk.run("cluster create other --release 1 --quiet").ok();
    assert_eq!(id, "2\n");
    desk.run("env update 2 --name another").ok();
    assert_eq!(desk.run("env show 2 -o json").json()["name"], "another");
    assert_eq!(desk.run("env list --quiet").ok(), "1\n2\n");
    desk.run("env delete --env 2").ok();
    desk.run("env show 2").fails(1, &["cluster not found"]);

    desk.run("node update 1 --name first --label rack=7 --label row=3").ok();
    desk.run("node update 1 --remove-label row").ok();
    assert_eq!(desk.run("node show 1 -o json").json()["labels"], json!({"rack": "7"}));
    desk.run("env add nodes 1 --node 1 --role king").fails(1, &["king"]);
    let removed = desk.run("env remove nodes 1 --node 3 -o json").json();
    assert_eq!(removed, json!([{"id": 3}]));
    let added = desk.run("env add nodes 1 --node 3 --role web -o json").json();
    assert_eq!(added, json!([{"id": 3, "roles": ["web"]}]));
    desk.run("env remove nodes 1 --node 3").ok();
    assert_eq!(desk.run("node list --free -q").ok(), "3\n");
    assert_eq!(desk.run("node list --env 1 -q").ok(), "1\n2\n");
    desk.run("env remove nodes 1 --all").ok();
    desk.run("node delete 1 3").ok();
    assert_eq!(desk.run("node list -q").ok(), "2\n");
    desk.run("node create --mac 52:54:00:00:00:02").fails(1, &["52:54:00:00:00:02"]);
    desk.run("release delete 1").fails(1, &["cluster"]);
}

#[test]
fn settings_and_facts_go_down_and_up() {
    let desk = Desk::with_cluster();
    assert!(desk.run("settings show 1").ok().contains("common.debug"));
    desk.run("settings set --env 1 common.debug=true").ok();
    desk.run("env settings download --env 1 --file settings.yaml").ok();
    assert!(desk.read("settings.yaml").contains("value: true"));
    desk.run("settings set --env 1 comon.debug=1").fails(1, &["did you mean `common.debug`?"]);
    desk.write("settings.yaml", "editable:\n  common:\n    debug: {value: [1}\n");
    desk.run("settings upload 1 --file settings.yaml").fails(3, &["settings.yaml:3"]);
    desk.write("settings.yaml", "editable:\n  common:\n    debug: {value: false}\n");
    desk.run("env settings upload --env 1 --file settings.yaml").ok();
    let settings = desk.run("settings show 1 -o json").json();
    assert_eq!(settings["editable"]["common"]["debug"]["value"], false);
    desk.run("settings reset 1").fails(1, &["nothing was done"]);
    desk.run("settings reset 1 --yes").ok();
    desk.run("settings show 1 --deployed").fails(1, &[]);

    desk.run("facts download 1 --node 1 --file facts.yaml").ok();
    assert!(desk.read("facts.yaml").contains("uid: '1'"));
    desk.run("facts upload 1 --file facts.yaml").ok();
    assert_eq!(desk.run("env show 1 -o json").json()["is_customized"], true);
    desk.run("facts delete 1").ok();
    assert_eq!(desk.run("env show 1 -o json").json()["is_customized"], false);
}

#[test]
fn roles_tags_and_sequences_are_documents() {
    let desk = Desk::with_cluster();
    desk.write("tag.yaml", "name: edge\nmeta: {has_primary: true}\n");
    desk.write("role.yaml", "name: edge\nmeta: {name: Edge, description: At the border, tags: [edge]}\n");
    desk.run("role create --env 1 --file role.yaml").fails(1, &["edge"]);
    desk.run("tag create --env 1 --file tag.yaml").ok();
    desk.run("role create --env 1 --file role.yaml").ok();
    assert!(desk.run("role list --env 1").ok().contains("At the border"));
    desk.run("role list --release 1 -q").ok();
    assert_eq!(desk.run("role show --env 1 edge -o json").json()["meta"]["name"], "Edge");
    // That of the release is one of the cluster's, as its list says.
    assert_eq!(desk.run("role show --env 1 web -o json").json()["meta"]["name"], "Web");
    desk.run("role show --env 1 no-such-role").fails(1, &["not found"]);
    desk.write("role.yaml", "name: edge\nmeta: {name: Edge, description: Beyond, tags: [edge]}\n");
    desk.run("role update --env 1 edge --file role.yaml").ok();
    desk.run("role delete --env 1 edge").ok();
    desk.run("role delete --env 1 edge").fails(1, &["edge"]);
    desk.run("tag delete --env 1 edge").ok();

    desk.run("sequence create --release 1 --name all --graph one,two").ok();
    desk.run("sequence create --release 1 --name all --graph one").fails(1, &["all"]);
    desk.run("sequence update 1 --name both --graph default").ok();
    assert!(desk.run("sequence list --env 1").ok().contains("both"));
    desk.run("sequence execute 1 --env 1 --dry-run --follow").ok();
    desk.run("sequence delete 1").ok();
    desk.run("sequence show 1").fails(1, &["not found"]);
}

#[test]
fn a_cluster_is_made_by_questions_and_answers() {
    let desk = Desk::with_cluster();
    let shown = desk.run("wizard show --release 1").ok();
    assert!(shown.contains("Network.manager") && shown.contains("VLAN"), "{shown}");
    // Defaults for the machines, an answer that is none, an option by its number, a name, and a yes.
    let answered = desk.run_with("wizard run --release 1", "\n\nseven\n1\nby-hand\ny\n");
    for word in ["Compute", "KVM [Y/n]", "1 VLAN", "answer with a number from 1 to 1", "network:ml2:vlan"] {
        assert!(answered.err.contains(word), "{word}: {}", answered.err);
    }
    assert_eq!(answered.ok(), "made cluster 2\n");
    let cluster = desk.run("env show 2 -o json").json();
    assert_eq!(cluster["components"], json!(["hypervisor:core:kvm", "network:ml2:vlan"]));
    let line = "wizard run --release 1 --name other --defaults --answer Compute.vcenter=true --yes --quiet";
    assert_eq!(desk.run(line).ok(), "3\n");
    desk.run("wizard run --release 1 --name third --defaults").fails(1, &["nothing was done"]);
    desk.run("wizard run --release 1 --name x --defaults --answer Network.manager=no --yes")
        .fails(1, &["Network.manager"]);
    desk.run("wizard run --release 1 --answer x").fails(2, &["PANE.CONTROL=VALUE"]);
    desk.run("wizard run --release 1").fails(3, &["standard input has ended"]);
    desk.run("wizard show --release 9").fails(1, &["release not found"]);
}
