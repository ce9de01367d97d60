//! User-defined helper functions that a plan depends on.

use std::collections::{BTreeMap, BTreeSet};

use stoker_model::Json;
use stoker_yaql::library::Function;

use crate::input::PlanningInput;

/// Helpers that expressions of the graph may call, directly or through other helpers, by name. Names are
/// matched as words of the expression text, so a word that is not a call counts too: a false positive only
/// makes a plan stale too early, a false negative would leave a stale plan undetected.
pub(crate) fn used<'i>(input: &'i PlanningInput<'_>) -> BTreeMap<String, Vec<&'i dyn Function>> {
    let mut helpers: BTreeMap<String, Vec<&dyn Function>> = BTreeMap::new();
    for function in input.library.functions().iter().filter(|function| function.body().is_some()) {
        for signature in function.signatures().iter() {
            helpers.entry(name_of(signature)).or_default().push(&**function);
        }
    }
    if helpers.is_empty() {
        return helpers;
    }
    let mut pending: Vec<&str> = Vec::new();
    for task in input.tasks {
        task.fields.values().for_each(|value| words_of_json(value, false, &mut pending));
    }
    pending.extend(words(input.node_filter.unwrap_or_default()));
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    while let Some(word) = pending.pop() {
        let Some((_, functions)) = helpers.get_key_value(word).filter(|(name, _)| reached.insert(name))
        else {
            continue;
        };
        pending.extend(functions.iter().filter_map(|function| function.body()).flat_map(words));
    }
    let reached: BTreeSet<String> = reached.into_iter().map(str::to_owned).collect();
    helpers.retain(|name, _| reached.contains(name));
    helpers
}

/// The name in a signature `f name(parameters)`, or with `fm` or `m`.
fn name_of(signature: &str) -> String {
    let rest = signature.split_once(' ').map_or(signature, |(_, rest)| rest);
    rest.split('(').next().unwrap_or_default().trim().to_owned()
}

/// Collects the words of all expressions in a value; other strings are ignored.
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
