//! User-defined helper functions that a plan depends on.

use std::collections::BTreeMap;

use stoker_model::Json;
use stoker_yaql::Library;
use stoker_yaql::library::Function;

use crate::input::PlanningInput;

/// The user-defined helpers of a library, by name.
pub(crate) struct Helpers<'l>(BTreeMap<String, Vec<&'l dyn Function>>);

impl<'l> Helpers<'l> {
    pub(crate) fn new(library: &'l Library) -> Self {
        let mut helpers: BTreeMap<String, Vec<&dyn Function>> = BTreeMap::new();
        for function in library.functions().iter().filter(|function| function.body().is_some()) {
            for signature in function.signatures().iter() {
                helpers.entry(name_of(signature)).or_default().push(&**function);
            }
        }
        Self(helpers)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Helpers that expressions in the fields or the text of an expression may call, directly or through other helpers.
    /// Names are matched as words of the expression text, so a word that is not a call counts too: a false positive
    /// only makes a plan stale too early, a false negative would leave a stale plan undetected.
    pub(crate) fn reachable<'j>(
        &self,
        fields: impl Iterator<Item = &'j Json>,
        expression: &'j str,
    ) -> BTreeMap<String, Vec<&'l dyn Function>> {
        let mut pending: Vec<&str> = Vec::new();
        fields.for_each(|value| words_of_json(value, false, &mut pending));
        pending.extend(words(expression));
        let mut reached: BTreeMap<String, Vec<&dyn Function>> = BTreeMap::new();
        while let Some(word) = pending.pop() {
            let Some(functions) = self.0.get(word).filter(|_| !reached.contains_key(word)) else { continue };
            reached.insert(word.to_owned(), functions.clone());
            pending.extend(functions.iter().filter_map(|function| function.body()).flat_map(words));
        }
        reached
    }
}

/// Helpers that expressions of the graph may call.
pub(crate) fn used<'i>(input: &'i PlanningInput<'_>) -> BTreeMap<String, Vec<&'i dyn Function>> {
    let helpers = Helpers::new(&input.library);
    if helpers.is_empty() {
        return BTreeMap::new();
    }
    let fields = input.tasks.iter().flat_map(|task| task.fields.values());
    helpers.reachable(fields, input.node_filter.unwrap_or_default())
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
