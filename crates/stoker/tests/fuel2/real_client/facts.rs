//! Deployment and provisioning facts: computed, edited, reset.

use serde_json::json;

use crate::harness::Fuel;

#[test]
fn deployment_facts_are_downloaded_and_uploaded() {
    let fuel = Fuel::with_cluster();
    let output = fuel.ok("env deployment-facts get-default -e 1 -f json");
    let folder = fuel.path("deployment_1");
    assert_eq!(
        output,
        format!("Default deployment facts for the environment 1 were downloaded to {folder}\n")
    );
    for uid in ["common", "1", "2", "3"] {
        assert_eq!(fuel.read_json(&format!("deployment_1/{uid}.json"))["uid"], uid);
    }
    fuel.ok("env deployment-facts get-default -e 1 -f yaml -n 2 --no-split -d .");
    assert!(fuel.read("deployment_1/2.yaml").contains("uid: '2'"));
    assert!(!std::fs::exists(fuel.path("deployment_1/1.yaml")).unwrap());
    fuel.ok("env deployment-facts download -e 1 -f json");
    let mut facts = fuel.read_json("deployment_1/2.json");
    facts["by_hand"] = json!("yes");
    fuel.write("deployment_1/2.json", &facts.to_string());
    assert_eq!(
        fuel.ok("env deployment-facts upload -e 1 -f json"),
        "Deployment facts for the environment 1 were uploaded successfully.\n"
    );
    assert_eq!(fuel.json("env show 1")["is_customized"], json!(true));
    fuel.ok("env deployment-facts download -e 1 -f json");
    assert_eq!(fuel.read_json("deployment_1/2.json")["by_hand"], "yes");
    fuel.ok("env deployment-facts get-default -e 1 -f json");
    assert!(fuel.read_json("deployment_1/2.json")["by_hand"].is_null());
    assert_eq!(
        fuel.ok("env deployment-facts delete 1"),
        "Deployment facts for the environment 1 were deleted successfully.\n"
    );
    assert_eq!(fuel.json("env show 1")["is_customized"], json!(false));
    fuel.ok("env deployment-facts download -e 1 -f json");
    assert!(fuel.read_json("deployment_1/2.json")["by_hand"].is_null());
}

#[test]
fn provisioning_facts_are_downloaded_and_uploaded() {
    let fuel = Fuel::with_cluster();
    fuel.ok("env provisioning-facts get-default -e 1 -f yaml");
    fuel.read("provisioning_1/engine.yaml");
    assert!(fuel.read("provisioning_1/1.yaml").contains("uid: '1'"));
    fuel.ok("env provisioning-facts download -e 1 -f json -n 1 3");
    let mut facts = fuel.read_json("provisioning_1/3.json");
    assert!(!std::fs::exists(fuel.path("provisioning_1/2.json")).unwrap());
    facts["by_hand"] = json!("yes");
    fuel.write("provisioning_1/3.json", &facts.to_string());
    assert_eq!(
        fuel.ok("env provisioning-facts upload -e 1 -f json -d ."),
        "Provisioning facts for the environment 1 were uploaded successfully.\n"
    );
    fuel.ok("env provisioning-facts download -e 1 -f json");
    assert_eq!(fuel.read_json("provisioning_1/3.json")["by_hand"], "yes");
    fuel.ok("env provisioning-facts delete 1");
    fuel.ok("env provisioning-facts download -e 1 -f json");
    assert!(fuel.read_json("provisioning_1/3.json")["by_hand"].is_null());
}

#[test]
fn invalid_facts_are_rejected() {
    let fuel = Fuel::with_cluster();
    fuel.discover(4);
    for kind in ["deployment", "provisioning"] {
        for verb in ["download", "get-default"] {
            fuel.rejected_with(404, "Cluster not found", &format!("env {kind}-facts {verb} -e 9 -f json"));
            assert!(fuel.rejected(&format!("env {kind}-facts {verb} -e 1 -n 4 -f json")).starts_with('4'));
        }
        fuel.rejected_with(404, "Cluster not found", &format!("env {kind}-facts delete 9"));
        fuel.write(&format!("{kind}_1/1.json"), "\"words\"");
        fuel.rejected_with(400, "", &format!("env {kind}-facts upload -e 1 -f json"));
        fuel.write(&format!("{kind}_9/1.json"), "{\"uid\": \"1\"}");
        if kind == "provisioning" {
            fuel.write("provisioning_9/engine.json", "{}");
        }
        fuel.rejected_with(404, "Cluster not found", &format!("env {kind}-facts upload -e 9 -f json"));
    }
    assert_eq!(fuel.run("env deployment-facts download -e 1 -f json -d missing").code, 2);
}
