//! Nodes: properties, names, labels, attributes.

use serde_json::json;

use crate::harness::Fuel;

#[test]
fn nodes_are_listed_and_shown() {
    let fuel = Fuel::with_cluster();
    fuel.discover(4);
    assert_eq!(fuel.column("node list", "id"), [json!(1), json!(2), json!(3), json!(4)]);
    assert_eq!(fuel.column("node list -e 1", "id"), [json!(1), json!(2), json!(3)]);
    assert_eq!(fuel.column("node list -s mac", "mac")[3], "52:54:00:00:00:04");
    assert_eq!(fuel.json("node list -e 9"), json!([]));
    let node = fuel.json("node show 1");
    for (field, value) in [
        ("status", json!("discover")),
        ("mac", json!("52:54:00:00:00:01")),
        ("ip", json!("192.0.2.1")),
        ("hostname", json!("node-1")),
        ("platform_name", json!("KVM")),
        ("manufacturer", json!("QEMU")),
        ("pending_roles", json!(["controller"])),
        ("cluster", json!(1)),
        ("online", json!(true)),
        ("pending_deletion", json!(false)),
        ("supported_hugepages", json!([2048])),
        ("distances", json!([["1.0"]])),
    ] {
        assert_eq!(node[field], value, "{field}: {node}");
    }
    fuel.rejected_with(404, "Node not found", "node show 9");
}

#[test]
fn nodes_are_renamed() {
    let fuel = Fuel::with_cluster();
    let node = fuel.json("node update 1 --name 'the first' -H first");
    assert_eq!((&node["name"], &node["hostname"]), (&json!("the first"), &json!("first")));
    assert_eq!(fuel.json("node update 1 --hostname second")["hostname"], "second");
    for (status, line) in [
        (409, "node update 2 -H second"),
        (400, "node update 2 -H 'not a name'"),
        (400, "node update 2 -H -leading-dash.."),
        (404, "node update 9 --name x"),
    ] {
        let line = line.replace("-H -", "--hostname=-");
        fuel.rejected_with(status, "", &line);
    }
    assert_eq!(fuel.json("node show 2")["hostname"], "node-2");
}

#[test]
fn labels_are_set_filtered_and_deleted() {
    let fuel = Fuel::with_cluster();
    let output = fuel.ok("node label set -l 'rack=r 1' disk -n 1 2");
    assert_eq!(output, "Labels have been updated on nodes: 1,2 \n");
    fuel.ok("node label set --labels rack=r2 --nodes-all");
    fuel.ok("node label set -l 'rack=r 1' -n 1");
    let rows = fuel.json("node label list -n 1 -s label_name");
    assert_eq!(
        rows,
        json!([
            {"node_id": 1, "label_name": "disk", "label_value": null},
            {"node_id": 1, "label_name": "rack", "label_value": "r 1"},
        ])
    );
    assert_eq!(fuel.json("node label list").as_array().unwrap().len(), 5);
    for (labels, ids) in
        [("rack=r2", vec![2, 3]), ("disk", vec![1, 2]), ("disk= 'rack=r 1'", vec![1, 2]), ("none", vec![])]
    {
        assert_eq!(fuel.column(&format!("node list -l {labels}"), "id"), ids, "{labels}");
    }
    assert_eq!(fuel.ok("node label delete -l disk -n 1"), "Labels have been deleted on nodes: 1 \n");
    fuel.ok("node label delete -l rack=other --nodes-all");
    assert_eq!(fuel.json("node label list -n 1").as_array().unwrap().len(), 1);
    fuel.ok("node label delete --labels-all --nodes-all");
    assert_eq!(fuel.json("node label list"), json!([]));

    fuel.rejected_with(404, "Node not found", "node label set -l a=b -n 9");
    fuel.rejected_with(404, "Node not found", "node label delete -l a -n 9");
    let long = "x".repeat(101);
    fuel.rejected_with(400, "", &format!("node label set -l {long}=1 -n 1"));
    fuel.rejected_with(400, "", &format!("node label set -l a={long} -n 1"));
    assert!(fuel.rejected("node label set -l =b -n 1").contains("couldn't be an empty string"));
}

#[test]
fn inventory_lists_nodes_by_role() {
    let fuel = Fuel::with_cluster();
    fuel.ok("node label set -l rack=1 -n 1 2");
    assert_eq!(fuel.ok("node ansible-inventory -e 1"), "", "roles are pending until the first deployment");
    fuel.finish("env deploy 1");
    let output = fuel.ok("node ansible-inventory -e 1");
    assert_eq!(
        output,
        "[compute]\nnode-2 ansible_host=192.0.2.2\nnode-3 ansible_host=192.0.2.3\n\n[controller]\nnode-1 ansible_host=192.0.2.1\n\n"
    );
    let output = fuel.ok("node ansible-inventory -e 1 -l rack=1");
    assert!(!output.contains("node-3"), "{output}");
}

#[test]
fn attributes_are_downloaded_and_uploaded() {
    let fuel = Fuel::with_cluster();
    fuel.discover(4);
    let output = fuel.ok("node attributes-download 1");
    assert_eq!(
        output,
        format!("Attributes for node 1 were written to {}\n", fuel.path("node_1/attributes.yaml"))
    );
    assert_eq!(fuel.ok("node attributes-upload 1"), "Attributes for node 1 were uploaded.\n");
    fuel.write(
        "other/node_1/attributes.yaml",
        "hugepages:\n  nova:\n    type: text\n    value: {'2048': 1}\n",
    );
    fuel.ok("node attributes-upload 1 --dir other");
    fuel.ok("node attributes-download 1 --dir other");
    assert!(fuel.read("other/node_1/attributes.yaml").contains("hugepages"));
    fuel.rejected_with(404, "Node not found", "node attributes-download 9");
    fuel.rejected_with(400, "", "node attributes-download 4");
    fuel.write("other/node_1/attributes.yaml", "- a list\n");
    fuel.rejected_with(400, "", "node attributes-upload 1 --dir other");
    assert!(fuel.rejected("node attributes-upload 2 --dir other").contains("node_2"));
}

#[test]
fn nodes_are_deleted() {
    let fuel = Fuel::with_cluster();
    fuel.discover(4);
    assert!(fuel.rejected("node undiscover -n 4").contains("because they are online"));
    assert_eq!(fuel.ok("node undiscover -n 4 --force"), "Nodes [4] were deleted from the database\n");
    fuel.rejected_with(404, "Node not found", "node undiscover -n 4 -f");
    fuel.ok("node undiscover -e 1 -f");
    assert_eq!(fuel.json("node list"), json!([]));
    assert!(fuel.rejected("node undiscover -e 1").contains("does not contain any nodes"));
    // A node that is discovered again gets a new ID.
    assert_eq!(fuel.discover(4), 5);
}
