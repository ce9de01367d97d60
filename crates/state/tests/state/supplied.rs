use serde_json::json;
use stoker_model::Json;
use stoker_state::{EffectiveDocuments, SuppliedDocuments};

use crate::records::{Records, map};

fn documents(supplied: &[(&str, Json)]) -> EffectiveDocuments {
    let mut records = Records::new();
    records.nodes.truncate(2);
    let supplied: SuppliedDocuments =
        supplied.iter().map(|(uid, document)| ((*uid).to_owned(), map(document.clone()))).collect();
    records.state().effective_documents(supplied)
}

#[test]
fn computed_documents_are_the_default() {
    let (common, own) = documents(&[]).into_plan_documents();
    assert_eq!((&common["cluster"]["name"], common.get("uid")), (&json!("demo"), None));
    assert_eq!((own.len(), &own[1]["uid"], own[1].get("cluster")), (2, &json!("2"), None));
    assert_eq!(documents(&[]).into_complete()[1]["cluster"]["name"], "demo");
    assert_eq!(documents(&[]).into_common_and_own()[0]["uid"], "common");
    let common = serde_json::to_string(&documents(&[]).into_common_and_own()[0]).unwrap().len();
    assert_eq!(documents(&[]).complete_bytes(), 2 * common);
    assert_eq!(documents(&[("1", json!({"uid": "1"}))]).complete_bytes(), common);
}

#[test]
fn supplied_common_document_replaces_the_computed_one() {
    let supplied =
        [("common", json!({"uid": "common", "a": {"x": 1}})), ("2", json!({"uid": "2", "a": {"y": 2}}))];
    assert_eq!(
        Json::Object(documents(&supplied).into_complete()[1].clone()),
        json!({"uid": "2", "a": {"x": 1, "y": 2}})
    );
    let (common, own) = documents(&supplied).into_plan_documents();
    assert_eq!(Json::Object(common), json!({"a": {"x": 1}}));
    assert_eq!(own[0]["name"], "node-1");
    assert_eq!(Json::Object(own[1].clone()), json!({"uid": "2", "a": {"y": 2}}));
}

#[test]
fn common_part_of_complete_documents_is_extracted() {
    let supplied = [
        ("1", json!({"uid": "1", "same": [1], "own": 1})),
        ("2", json!({"uid": "2", "same": [1], "own": 2})),
    ];
    let (common, own) = documents(&supplied).into_plan_documents();
    assert_eq!(Json::Object(common), json!({"same": [1]}));
    assert_eq!(Json::Object(own[0].clone()), json!({"uid": "1", "own": 1}));
    assert_eq!(documents(&supplied).into_complete()[0].len(), 3);
}

#[test]
fn partially_supplied_documents_share_the_computed_common_document() {
    let supplied = [("1", json!({"uid": "1", "mine": true}))];
    let (common, own) = documents(&supplied).into_plan_documents();
    assert_eq!(common["cluster"]["name"], "demo");
    assert_eq!(Json::Object(own[0].clone()), json!({"uid": "1", "mine": true}));
    assert_eq!(documents(&supplied).into_complete()[0].get("cluster"), None);
}
