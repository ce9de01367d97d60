//! Clusters, nodes, settings, facts, roles, tags and sequences.

use serde_json::json;

use crate::fixture::CliFixture;

#[test]
fn clusters_and_nodes_are_created_updated_and_deleted() {
    let cli = CliFixture::with_cluster();
    cli.run("env create shop --release 1").fails(1, &["already exists"]);
    cli.run("env create other --release 9").fails(1, &["release"]);
    let id = cli.run("cluster create other --release 1 --quiet").ok();
    assert_eq!(id, "2\n");
    cli.run("env update 2 --name another").ok();
    assert_eq!(cli.run("env show 2 -o json").json()["name"], "another");
    assert_eq!(cli.run("env list --quiet").ok(), "1\n2\n");
    cli.run("env delete --env 2").ok();
    cli.run("env show 2").fails(1, &["cluster not found"]);

    cli.run("node update 1 --name first --label rack=7 --label row=3").ok();
    cli.run("node update 1 --remove-label row").ok();
    assert_eq!(cli.run("node show 1 -o json").json()["labels"], json!({"rack": "7"}));
    cli.run("env add nodes 1 --node 1 --role king").fails(1, &["king"]);
    let removed = cli.run("env remove nodes 1 --node 3 -o json").json();
    assert_eq!(removed, json!([{"id": 3}]));
    let added = cli.run("env add nodes 1 --node 3 --role web -o json").json();
    assert_eq!(added, json!([{"id": 3, "roles": ["web"]}]));
    cli.run("env remove nodes 1 --node 3").ok();
    assert_eq!(cli.run("node list --free -q").ok(), "3\n");
    assert_eq!(cli.run("node list --env 1 -q").ok(), "1\n2\n");
    cli.run("env remove nodes 1 --all").ok();
    cli.run("node delete 1 3").ok();
    assert_eq!(cli.run("node list -q").ok(), "2\n");
    cli.run("node create --mac 52:54:00:00:00:02").fails(1, &["52:54:00:00:00:02"]);
    cli.run("release delete 1").fails(1, &["cluster"]);
}

#[test]
fn settings_and_facts_are_downloaded_and_uploaded() {
    let cli = CliFixture::with_cluster();
    assert!(cli.run("settings show 1").ok().contains("common.debug"));
    cli.run("settings set --env 1 common.debug=true").ok();
    cli.run("env settings download --env 1 --file settings.yaml").ok();
    assert!(cli.read("settings.yaml").contains("value: true"));
    cli.run("settings set --env 1 comon.debug=1").fails(1, &["did you mean `common.debug`?"]);
    cli.write("settings.yaml", "editable:\n  common:\n    debug: {value: [1}\n");
    cli.run("settings upload 1 --file settings.yaml").fails(3, &["settings.yaml:3"]);
    cli.write("settings.yaml", "editable:\n  common:\n    debug: {value: false}\n");
    cli.run("env settings upload --env 1 --file settings.yaml").ok();
    let settings = cli.run("settings show 1 -o json").json();
    assert_eq!(settings["editable"]["common"]["debug"]["value"], false);
    cli.run("settings reset 1").fails(1, &["not confirmed"]);
    cli.run("settings reset 1 --yes").ok();
    cli.run("settings show 1 --deployed").fails(1, &[]);

    cli.run("facts download 1 --node 1 --file facts.yaml").ok();
    assert!(cli.read("facts.yaml").contains("uid: '1'"));
    cli.run("facts upload 1 --file facts.yaml").ok();
    assert_eq!(cli.run("env show 1 -o json").json()["is_customized"], true);
    cli.run("facts delete 1").ok();
    assert_eq!(cli.run("env show 1 -o json").json()["is_customized"], false);
}

#[test]
fn roles_tags_and_sequences_are_managed_as_documents() {
    let cli = CliFixture::with_cluster();
    cli.write("tag.yaml", "name: edge\nmeta: {has_primary: true}\n");
    cli.write("role.yaml", "name: edge\nmeta: {name: Edge, description: At the border, tags: [edge]}\n");
    cli.run("role create --env 1 --file role.yaml").fails(1, &["edge"]);
    cli.run("tag create --env 1 --file tag.yaml").ok();
    cli.run("role create --env 1 --file role.yaml").ok();
    assert!(cli.run("role list --env 1").ok().contains("At the border"));
    cli.run("role list --release 1 -q").ok();
    assert_eq!(cli.run("role show --env 1 edge -o json").json()["meta"]["name"], "Edge");
    // A cluster inherits the roles of its release.
    assert_eq!(cli.run("role show --env 1 web -o json").json()["meta"]["name"], "Web");
    cli.run("role show --env 1 no-such-role").fails(1, &["not found"]);
    cli.write("role.yaml", "name: edge\nmeta: {name: Edge, description: Beyond, tags: [edge]}\n");
    cli.run("role update --env 1 edge --file role.yaml").ok();
    cli.run("role delete --env 1 edge").ok();
    cli.run("role delete --env 1 edge").fails(1, &["edge"]);
    cli.run("tag delete --env 1 edge").ok();

    cli.run("sequence create --release 1 --name all --graph one,two").ok();
    cli.run("sequence create --release 1 --name all --graph one").fails(1, &["all"]);
    cli.run("sequence update 1 --name both --graph default").ok();
    assert!(cli.run("sequence list --env 1").ok().contains("both"));
    cli.run("sequence execute 1 --env 1 --dry-run --follow").ok();
    cli.run("sequence delete 1").ok();
    cli.run("sequence show 1").fails(1, &["not found"]);
}

#[test]
fn wizard_creates_a_cluster() {
    let cli = CliFixture::with_cluster();
    let questions = cli.run("wizard show --release 1").ok();
    assert!(questions.contains("Network.manager") && questions.contains("VLAN"), "{questions}");
    // Two defaults, an invalid answer, an option by number, the name, and the confirmation.
    let output = cli.run_with("wizard run --release 1", "\n\nseven\n1\nby-hand\ny\n");
    for word in ["Compute", "KVM [Y/n]", "1 VLAN", "enter a number from 1 to 1", "network:ml2:vlan"] {
        assert!(output.err.contains(word), "{word}: {}", output.err);
    }
    assert_eq!(output.ok(), "created cluster 2\n");
    let cluster = cli.run("env show 2 -o json").json();
    assert_eq!(cluster["components"], json!(["hypervisor:core:kvm", "network:ml2:vlan"]));
    let line = "wizard run --release 1 --name other --defaults --answer Compute.vcenter=true --yes --quiet";
    assert_eq!(cli.run(line).ok(), "3\n");
    cli.run("wizard run --release 1 --name third --defaults").fails(1, &["not confirmed"]);
    cli.run("wizard run --release 1 --name x --defaults --answer Network.manager=no --yes")
        .fails(1, &["Network.manager"]);
    cli.run("wizard run --release 1 --answer x").fails(2, &["PANE.CONTROL=VALUE"]);
    cli.run("wizard run --release 1").fails(3, &["unexpected end of standard input"]);
    cli.run("wizard show --release 9").fails(1, &["release not found"]);
}
