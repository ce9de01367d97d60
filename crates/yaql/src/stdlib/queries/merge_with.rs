use super::support::{ToList, ValueSet};
use crate::eval::with_stack;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Merges two maps: the keys of the first, then the additional keys of the second. If both have a key, the type of the second value determines the result: maps are merged recursively, lists with the list merger (by default, the distinct elements of both), other values with the item merger (by default, the second value). Mergers get the values as `$1` and `$2`. `maxLevels` limits the number of map levels to merge, 0 for no limit; below that level the item merger is used for all values. Fails with TypeError if a map or list would be merged with a value of another type.",
    overloads: &[(
        "m mergeWith(dict: map, another: map, listMerger: lambda = null, itemMerger: lambda = null, maxLevels: int = 0)",
        merge_with,
    )],
    examples: &[
        (
            "{a => 1, b => {c => 2}}.mergeWith({b => {d => 3}, e => 4})",
            r#"{"a": 1, "b": {"c": 2, "d": 3}, "e": 4}"#,
        ),
        ("{l => [1, 2]}.mergeWith({l => [2, 3]})", r#"{"l": [1, 2, 3]}"#),
        ("{l => [1, 2]}.mergeWith({l => [3]}, $2.concat($1))", r#"{"l": [3, 1, 2]}"#),
        ("{n => 2}.mergeWith({n => 5},, $1 * $2)", r#"{"n": 10}"#),
        ("{a => {x => 1}}.mergeWith({a => {y => 2}}, maxLevels => 1)", r#"{"a": {"y": 2}}"#),
        ("{a => 1}.mergeWith({a => {b => 2}})", "TypeError"),
    ],
    purity: Purity::Pure,
};

fn merge_with(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let (left, right) = (args.map(0), args.map(1));
    let lists = args.optional_lambda(2);
    let items = args.optional_lambda(3);
    let to_list = ToList::new(cx, args.ctx)?;
    Merger { lists, items, to_list }.maps(cx, &left, &right, args.int(4))
}

struct Merger {
    lists: Option<Lambda>,
    items: Option<Lambda>,
    to_list: ToList,
}

impl Merger {
    /// Merges two maps. `levels` is the number of map levels to merge, 0 for no limit.
    fn maps(&mut self, cx: &mut Cx<'_>, left: &Map, right: &Map, levels: i64) -> Result<Value> {
        cx.steps((left.len() + right.len()) as u64)?;
        let mut merged = MapBuilder::with_capacity(left.len().max(right.len()));
        for (key, (_, value)) in left.iter_keys().zip(left.iter()) {
            let value = match right.get_key(key) {
                Some(other) => self.values(cx, value, other, levels)?,
                None => value.clone(),
            };
            merged.push_key(key.clone(), value);
        }
        for (key, (_, value)) in right.iter_keys().zip(right.iter()) {
            if !left.contains_key(key) {
                merged.push_key(key.clone(), value.clone());
            }
        }
        cx.dict(merged)
    }

    fn values(&mut self, cx: &mut Cx<'_>, left: &Value, right: &Value, levels: i64) -> Result<Value> {
        match right {
            Value::FrozenDict(right_map) | Value::Dict(right_map) if levels != 1 => {
                let Some(left_map) = left.as_map() else { return Err(cannot_merge(left, right)) };
                let deeper = if levels == 0 { 0 } else { levels.saturating_sub(1) };
                with_stack(|| self.maps(cx, left_map, right_map, deeper))
            }
            Value::Tuple(_) | Value::List(_) if levels != 1 => self.lists(cx, left, right),
            _ => match &mut self.items {
                Some(merger) => merger.call2(cx, left.clone(), right.clone()),
                None => Ok(right.clone()),
            },
        }
    }

    fn lists(&mut self, cx: &mut Cx<'_>, left: &Value, right: &Value) -> Result<Value> {
        let (Some(first), Some(second)) = (left.as_seq(), right.as_seq()) else {
            return Err(cannot_merge(left, right));
        };
        if let Some(merger) = &mut self.lists {
            return merger.call2(cx, left.clone(), right.clone());
        }
        if left.kind() != right.kind() {
            let (a, b) = (left.type_name(), right.type_name());
            return Err(Box::new(Error::kind(format!("can only concatenate {a} (not \"{b}\") to {a}"))));
        }
        let mut distinct = ValueSet::default();
        let mut merged = Vec::with_capacity(first.len().max(second.len()));
        for item in first.iter().chain(second.iter()) {
            cx.step()?;
            if distinct.insert(cx, item)? {
                merged.push(item.clone());
            }
        }
        let merged = self.to_list.make(cx, merged)?;
        cx.check_sized(&merged)?;
        Ok(merged)
    }
}

fn cannot_merge(left: &Value, right: &Value) -> Box<Error> {
    let message = format!("Cannot merge <class '{}'> with <class '{}'>", class_name(left), class_name(right));
    Box::new(Error::kind(message))
}

/// Returns the qualified class name that Python YAQL uses for a value.
fn class_name(value: &Value) -> String {
    let name = value.type_name();
    match value {
        Value::FrozenDict(_) => format!("yaql.language.utils.{name}"),
        Value::Ordering(_) => format!("yaql.standard_library.queries.{name}"),
        Value::Context(_) => format!("yaql.language.contexts.{name}"),
        Value::Keys(view) | Value::Items(view) if view.frozen => format!("collections.abc.{name}"),
        Value::Values(view) if view.frozen => format!("collections.abc.{name}"),
        _ => name.to_owned(),
    }
}
