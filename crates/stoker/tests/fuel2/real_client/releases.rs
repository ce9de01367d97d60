//! Releases, their components and their repositories.

use serde_json::json;

use crate::harness::{Fuel, release};

#[test]
fn releases_are_listed() {
    let fuel = Fuel::new();
    assert_eq!(fuel.json("release list"), json!([]));
    fuel.create("releases", &release("Shop", "newton-10.0"));
    fuel.create("releases", &release("Shop", "mitaka-9.0"));
    assert_eq!(
        fuel.json("release list"),
        json!([
            {"id": 1, "name": "Shop", "state": "available", "operating_system": "Ubuntu", "version": "newton-10.0"},
            {"id": 2, "name": "Shop", "state": "available", "operating_system": "Ubuntu", "version": "mitaka-9.0"},
        ])
    );
}

#[test]
fn components_are_listed_with_their_compatibility() {
    let fuel = Fuel::new();
    fuel.create("releases", &release("Shop", "newton-10.0"));
    let rows = fuel.json("release component list 1");
    let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    assert_eq!(row("hypervisor:qemu")["compatible"], "storage:*");
    assert_eq!(row("hypervisor:qemu")["default"], json!(true));
    assert_eq!(row("storage:block")["requires"], "any_of (hypervisor:*)");
    assert_eq!(row("network:plain")["incompatible"], "storage:block");
    assert_eq!(fuel.column("release component list 1", "name").len(), 3);
    fuel.rejected_with(404, "Release not found", "release component list 9");
}

#[test]
fn repositories_are_listed_and_replaced() {
    let fuel = Fuel::new();
    fuel.create("releases", &release("Shop", "newton-10.0"));
    assert_eq!(fuel.column("release repos list 1 -s priority", "name"), [json!("extra"), json!("ubuntu")]);
    fuel.write(
        "repos.yaml",
        "- {name: mirror, type: deb, uri: 'http://mirror.example/', suite: jammy, section: main, priority: 1}\n",
    );
    let output = fuel.ok("release repos update 1 -f repos.yaml");
    assert_eq!(output, "Repositories for the release with id 1 were set from repos.yaml.\n");
    assert_eq!(
        fuel.json("release repos list 1"),
        json!([{"name": "mirror", "priority": 1, "uri": "http://mirror.example/", "section": "main", "suite": "jammy", "type": "deb"}])
    );
    fuel.rejected_with(404, "Release not found", "release repos list 9");
    fuel.rejected_with(404, "Release not found", "release repos update 9 -f repos.yaml");
    assert!(fuel.run("release repos update 1 -f missing.yaml").code != 0);
}

#[test]
fn repositories_can_be_added_to_a_release() {
    let fuel = Fuel::new();
    let mut bare = release("Bare", "newton-10.0");
    bare["attributes_metadata"]["editable"].as_object_mut().unwrap().remove("repo_setup");
    fuel.create("releases", &bare);
    assert_eq!(fuel.json("release repos list 1"), json!([]));
    fuel.write(
        "repos.yaml",
        "- {name: mirror, type: deb, uri: 'http://mirror.example/', suite: jammy, section: main, priority: 1}\n",
    );
    fuel.ok("release repos update 1 -f repos.yaml");
    assert_eq!(fuel.column("release repos list 1", "name"), [json!("mirror")]);
}
