//! Roles and tags of releases and environments as files.

use serde_json::{Value, json};

use crate::harness::Fuel;

#[test]
fn roles_of_both_owners_are_created_updated_and_deleted() {
    let fuel = Fuel::with_cluster();
    assert_eq!(
        fuel.json("role list -r 1 -s name"),
        json!([
            {"name": "compute", "group": null, "conflicts": null, "description": "Carries"},
            {"name": "controller", "group": null, "conflicts": ["compute"], "description": "Decides"},
        ])
    );
    for (owner, folder) in [("-r 1", "releases_1"), ("-e 1", "clusters_1")] {
        let name = format!("of-{folder}").replace('_', "-");
        let role = json!({
            "name": name,
            "meta": {"name": "Storage", "description": "Keeps", "tags": ["compute"], "group": "storage", "conflicts": ["controller"]},
            "volumes_roles_mapping": [],
        });
        fuel.write(&format!("{folder}/{name}.json"), &role.to_string());
        let output = fuel.ok(&format!("role create {owner} -n {name} -f json"));
        assert!(
            output.starts_with(&format!(
                "Description of role '{name}' for {} with id 1 was created from ",
                &folder[..folder.len() - 2]
            )),
            "{output}"
        );
        fuel.rejected_with(409, "", &format!("role create {owner} -n {name} -f json"));
        for format in ["yaml", "json"] {
            fuel.ok(&format!("role download {owner} -n {name} -f {format}"));
            fuel.ok(&format!("role update {owner} -n {name} -f {format}"));
        }
        let mut role: Value = fuel.read_json(&format!("{folder}/{name}.json"));
        assert_eq!((&role["name"], &role["meta"]["group"]), (&json!(name), &json!("storage")), "{role}");
        role["meta"]["description"] = json!("Keeps more");
        fuel.write(&format!("{folder}/{name}.json"), &role.to_string());
        fuel.ok(&format!("role update {owner} -n {name} -f json"));
        let rows = fuel.json(&format!("role list {owner}"));
        let row = rows.as_array().unwrap().iter().find(|row| row["name"] == name.as_str()).unwrap();
        assert_eq!(row["description"], "Keeps more");
        let output = fuel.ok(&format!("role delete {owner} -n {name}"));
        assert_eq!(
            output,
            format!("Role '{name}' was deleted from {} with id 1\n", &folder[..folder.len() - 2])
        );
        fuel.rejected_with(404, &name, &format!("role delete {owner} -n {name}"));
        fuel.rejected_with(404, &name, &format!("role download {owner} -n {name} -f json"));
        fuel.rejected_with(404, &name, &format!("role update {owner} -n {name} -f json"));
    }
}

#[test]
fn invalid_roles_are_rejected() {
    let fuel = Fuel::with_cluster();
    let invalid = [
        (
            json!({"name": "x", "meta": {"name": "X", "description": "", "tags": ["nonsense"]}, "volumes_roles_mapping": []}),
            "nonsense",
        ),
        (json!({"name": "x"}), "meta"),
        (json!([]), ""),
    ];
    for (role, text) in invalid {
        fuel.write("releases_1/x.json", &role.to_string());
        fuel.rejected_with(400, text, "role create -r 1 -n x -f json");
    }
    fuel.rejected_with(400, "", "role delete -r 1 -n controller");
    fuel.rejected_with(404, "Release not found", "role list -r 9");
    fuel.rejected_with(404, "Cluster not found", "role list -e 9");
    assert!(fuel.rejected("role create -e 1 -n missing -f yaml").contains("Could not read description"));
    assert_eq!(fuel.run("role list").code, 2);
}

#[test]
fn tags_of_both_owners_are_created_updated_and_deleted() {
    let fuel = Fuel::with_cluster();
    assert_eq!(fuel.column("tag list -r 1 -s name", "name"), [json!("compute"), json!("controller")]);
    for (owner, folder) in [("-r 1", "releases_1"), ("-e 1", "clusters_1")] {
        fuel.write(&format!("{folder}/fast.yaml"), "name: fast\nmeta: {has_primary: false}\n");
        fuel.ok(&format!("tag create {owner} -n fast -f yaml"));
        fuel.rejected_with(409, "", &format!("tag create {owner} -n fast -f yaml"));
        fuel.ok(&format!("tag download {owner} -n fast -f json"));
        let mut tag = fuel.read_json(&format!("{folder}/fast.json"));
        assert_eq!(tag["meta"]["has_primary"], json!(false));
        tag["meta"]["has_primary"] = json!(true);
        fuel.write(&format!("{folder}/fast.json"), &tag.to_string());
        fuel.ok(&format!("tag update {owner} -n fast -f json"));
        fuel.ok(&format!("tag download {owner} -n fast -f yaml -d ."));
        assert!(fuel.read(&format!("{folder}/fast.yaml")).contains("has_primary: true"));
        assert_eq!(
            fuel.column(&format!("tag list {owner} -s name"), "name"),
            [json!("compute"), json!("controller"), json!("fast")]
        );
        let output = fuel.ok(&format!("tag delete {owner} -n fast"));
        assert_eq!(
            output,
            format!("Tag 'fast' was deleted from {} with id 1\n", &folder[..folder.len() - 2])
        );
        fuel.rejected_with(404, "fast", &format!("tag delete {owner} -n fast"));
        fuel.rejected_with(404, "fast", &format!("tag download {owner} -n fast -f yaml"));
        fuel.rejected_with(404, "fast", &format!("tag update {owner} -n fast -f yaml"));
    }
    fuel.write("releases_1/x.yaml", "name: x\nmeta: {has_primary: perhaps}\n");
    fuel.rejected_with(400, "has_primary", "tag create -r 1 -n x -f yaml");
    fuel.rejected_with(404, "Release not found", "tag list -r 9");
    fuel.rejected_with(404, "Cluster not found", "tag list -e 9");
}
