//! Which functions of users a plan depends on.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::Json;
use stoker_yaql::library::Function;

use crate::input::PlanningInput;

/// Functions with a body that some expression of the graph, or one of them, may call, by name. Names are looked for as
/// words, so that one that only looks like a call counts too: better one plan too many is made again than one too few.
pub(crate) fn used<'i>(input: &'i PlanningInput<'_>) -> BTreeMap<String, Vec<&'i dyn Function>> {
    let mut known: BTreeMap<String, Vec<&dyn Function>> = BTreeMap::new();
    for function in input.library.functions().iter().filter(|function| function.body().is_some()) {
        for signature in function.signatures().iter() {
            known.entry(name_of(signature)).or_default().push(&**function);
        }
    }
    if known.is_empty() {
        return known;
    }
    let mut waiting: Vec<&str> = Vec::new();
    for task in input.tasks {
        task.fields.values().for_each(|value| words_of_json(value, false, &mut waiting));
    }
    waiting.extend(words(input.node_filter.unwrap_or_default()));
    let mut found: BTreeSet<&str> = BTreeSet::new();
    while let Some(word) = waiting.pop() {
        let Some((_, functions)) = known.get_key_value(word).filter(|(name, _)| found.insert(name)) else {
            continue;
        };
        waiting.extend(functions.iter().filter_map(|function| function.body()).flat_map(words));
    }
    let found: BTreeSet<String> = found.into_iter().map(str::to_owned).collect();
    known.retain(|name, _| found.contains(name));
    known
}

/// `f name(parameters)`, or `fm`, or `m`.
fn name_of(signature: &str) -> String {
    let rest = signature.split_once(' ').map_or(signature, |(_, rest)| rest);
    rest.split('(').next().unwrap_or_default().trim().to_owned()
}

/// Words of the expressions in a value; those of its other texts mean nothing.
fn words_of_json<'j>(value: &'j Json, is_expression: bool, out: &mut Vec<&'j str>) {
    match value {
        Json::String(text) if is_expression => out.extend(words(text)),
        Json::Array(items) => items.iter().for_each(|item| words_of_json(item, is_expression, out)),
        Json::Object(map) => {
            for (key, value) in map {
                words_of_json(value, key == "yaql_exp", out);
            }
        }
        _ => {}
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}
