//! Plugin commands of `fuel2`.

use serde_json::json;

use crate::harness::Fuel;

#[test]
fn plugins_are_listed_and_synchronized() {
    let fuel = Fuel::with_cluster();
    assert_eq!(fuel.json("plugins list"), json!([]));
    assert_eq!(fuel.ok("plugins sync"), "Plugins were successfully synchronized.\n");
    let plugin = json!({
        "name": "extra", "title": "Extra", "version": "1.2.3", "package_version": "4.0.0", "fuel_version": ["10.0"],
        "releases": [
            {"os": "ubuntu", "version": "newton-10.0", "mode": ["ha"], "deployment_scripts_path": "scripts/", "repository_path": "repository"},
            {"os": "ubuntu", "version": "mitaka-9.0", "mode": ["ha"], "deployment_scripts_path": "scripts/", "repository_path": "repository"},
        ],
    });
    fuel.create("plugins", &plugin);
    let rows = fuel.json("plugins list");
    assert_eq!(
        rows,
        json!([{
            "id": 1, "name": "extra", "version": "1.2.3", "package_version": "4.0.0",
            "releases": "ubuntu (newton-10.0, mitaka-9.0)",
        }])
    );
    fuel.rejected_with(404, "", "plugins sync 9");
}
