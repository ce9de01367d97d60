//! Changes of inputs between two states of a cluster, for plans without recorded inputs.

use stoker_model::{Json, JsonMap};
use stoker_state::Secrets;

use crate::extras::{ChangedInstances, InputChange};
use crate::fingerprint::{inputs_document, inputs_of};
use crate::input::PlanningInput;
use crate::input_changes::{OldInputs, input_changes};
use crate::json::to_json;
use crate::plan::{DetailsIdx, Plan, PlannedTask};
use crate::planning::plan;

/// Compares the inputs of `planned`, which was planned from `after`, with those rendered over the state of `before`. If
/// planning over that state fails, no old inputs are known.
pub fn rendered_changes(
    planned: &Plan,
    after: &PlanningInput<'_>,
    before: &PlanningInput<'_>,
) -> (Vec<InputChange>, Vec<ChangedInstances>) {
    let secrets = secrets_of(after).union(secrets_of(before));
    let document = |task: &PlannedTask, details_idx: DetailsIdx| -> JsonMap {
        let Some(details) = task.details.get(details_idx.index()) else { return JsonMap::new() };
        let inputs = inputs_of(&details.parameters);
        let input_secrets = inputs.as_object().map(|map| Secrets::from_documents([map])).unwrap_or_default();
        inputs_document(&inputs, &input_secrets.union(secrets.clone()), &after.inputs_key)
    };
    let mut old = OldInputs::default();
    if let Ok((earlier, _)) = plan(before) {
        for task in &earlier.tasks {
            let all = (0..task.details.len()).map(DetailsIdx::at);
            let documents: Vec<usize> = all.map(|idx| old.add(document(task, idx))).collect();
            for instance in earlier.instances_of(task) {
                let details_idx = earlier.details_idx(instance.idx);
                if let Some(document_idx) = details_idx.and_then(|idx| documents.get(idx.index())) {
                    old.set(instance.task, instance.node, *document_idx);
                }
            }
        }
    }
    input_changes(planned, &old, document)
}

fn secrets_of(input: &PlanningInput<'_>) -> Secrets {
    let documents = input.nodes.iter().map(|node| &node.document).chain([&input.common]);
    let maps = documents.filter_map(|document| match to_json(document.value()) {
        Ok(Json::Object(map)) => Some(map),
        _ => None,
    });
    Secrets::from_documents(&maps.collect::<Vec<JsonMap>>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_model::Task;
    use stoker_state::document;

    use super::*;
    use crate::input::NodeInput;

    fn input<'a>(tasks: &'a [Task], common: &Json) -> PlanningInput<'a> {
        let map = |value: &Json| document(value.as_object().unwrap());
        let node = NodeInput {
            uid: "1".to_owned(),
            tags: vec!["web".to_owned()],
            document: map(&json!({"uid": "1"})),
            record: None,
        };
        PlanningInput::new(tasks, map(common), vec![node])
    }

    #[test]
    fn inputs_are_rendered_over_both_states_with_secrets_masked() {
        let fields = json!({
            "type": "shell", "version": "2.0.0", "roles": ["web"],
            "parameters": {"cmd": {"yaql_exp": "concat($.title, ' ', $.db_password)"}, "timeout": {"yaql_exp": "$.timeout"}},
        });
        let tasks = [Task { name: "t".to_owned(), fields: fields.as_object().cloned().unwrap() }];
        let state =
            |title: &str| json!({"title": title, "db_password": "hunter2hunter2", "timeout": title.len()});
        let (before, after) = (input(&tasks, &state("old")), input(&tasks, &state("newer")));
        let planned = plan(&after).unwrap().0;
        let (changes, of) = rendered_changes(&planned, &after, &before);
        assert_eq!(of, [ChangedInstances::from((0, 1, 0))]);
        let differences: Vec<String> = changes[0].differences.iter().map(ToString::to_string).collect();
        assert_eq!(differences, ["cmd changed from old (secret) to newer (secret)"]);
        assert!(rendered_changes(&planned, &after, &after).1.is_empty());
        // An expression that fails over the old state leaves the inputs unknown.
        let (changes, _) = rendered_changes(&planned, &after, &input(&tasks, &json!({})));
        assert!(changes[0].is_first);
    }
}
