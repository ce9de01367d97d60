//! Warnings about misspelled paths in state functions. A path that no state has counts as unchanged, so a condition such as
//! `changed($.confgs.nova)` would silently be false.

use std::collections::HashMap;

use stoker_diagnostics::Diagnostic;
use stoker_state::Document;
use stoker_yaql::Value;
use stoker_yaql::eval::suggest::closest_name;
use stoker_yaql::syntax::{ArgNode, Node, Tree};

use crate::compute::expressions::{ExpressionIdx, Expressions};
use crate::definition::{CONDITION, Definition};
use crate::input::PlanningInput;
use crate::report::codes;
use crate::template::Template;
use crate::yaql_ext::missing::leading_path;

/// Functions for which a path that does not exist is no error.
const TOLERANT: &[&str] = &["changed", "changedAll", "changedAny", "old"];

/// Returns a warning for each path in a condition that the new state of no node has, if it has a similar one.
pub(crate) fn near_misses(
    input: &PlanningInput<'_>,
    definitions: &[Definition<'_>],
    expressions: &Expressions,
) -> Vec<Diagnostic> {
    let roots =
        [&input.common, &input.master].into_iter().chain(input.nodes.iter().map(|node| &node.document));
    let mut states = States { roots: roots.map(Document::value).collect(), cache: HashMap::new() };
    let mut by_expression: HashMap<ExpressionIdx, Vec<NearMiss>> = HashMap::new();
    let mut warnings = Vec::new();
    for definition in definitions {
        let Some(Template::Computed(expression_idx)) = definition.condition else { continue };
        let compiled = &expressions.all[expression_idx as usize];
        let Ok(expression) = &compiled.expression else { continue };
        if !compiled.reads_old {
            continue;
        }
        let misses = by_expression
            .entry(expression_idx)
            .or_insert_with(|| states.near_misses(&expression.program().tree));
        warnings.extend(misses.iter().map(|miss| miss.warning().task(definition.name, CONDITION)));
    }
    warnings
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct NearMiss {
    /// As written, up to the key that does not exist.
    path: String,
    /// The existing path.
    best: String,
}

impl NearMiss {
    fn warning(&self) -> Diagnostic {
        let message = format!("`{}` is in no state, so it never changes", self.path);
        Diagnostic::warning(codes::NEAR_MISS, message).help(format!("did you mean `{}`?", self.best))
    }
}

struct States<'v> {
    /// The documents of which the states of all nodes consist.
    roots: Vec<&'v Value>,
    cache: HashMap<Vec<String>, Option<NearMiss>>,
}

impl States<'_> {
    fn near_misses(&mut self, tree: &Tree) -> Vec<NearMiss> {
        let mut misses = Vec::new();
        for path in compared_paths(tree) {
            if !self.cache.contains_key(&path) {
                let miss = self.near_miss(&path);
                self.cache.insert(path.clone(), miss);
            }
            misses.extend(self.cache.get(&path).cloned().flatten().filter(|miss| !misses.contains(miss)));
        }
        misses
    }

    fn near_miss(&self, path: &[String]) -> Option<NearMiss> {
        let depth = (0..path.len()).find(|depth| !self.has(&path[..=*depth]))?;
        let (parent, key) = (&path[..depth], &path[depth]);
        let maps = self.roots.iter().filter_map(|root| at(root, parent)).filter_map(Value::as_map);
        let names = maps.flat_map(|map| map.iter().filter_map(|(name, _)| name.as_str()));
        let best = closest_name(key, names)?;
        let show = |last: &str| parent.iter().map(String::as_str).chain([last]).fold("$".to_owned(), joined);
        Some(NearMiss { path: show(key), best: show(best) })
    }

    /// Whether the path exists in a state, or passes through a value that is not a map.
    fn has(&self, path: &[String]) -> bool {
        let Some((key, parent)) = path.split_last() else { return true };
        self.roots.iter().any(|root| match at(root, parent) {
            Some(Value::Null) | None => false,
            Some(value) => value.as_map().is_none_or(|map| map.get_str(key).is_some()),
        })
    }
}

fn joined(path: String, key: &str) -> String {
    path + "." + key
}

fn at<'v>(root: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(root, |value, key| value.as_map()?.get_str(key))
}

/// The paths from `$` that the arguments of state functions start with.
fn compared_paths(tree: &Tree) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for id in 0..tree.nodes.len() as u32 {
        let Node::Call { name, args, .. } = *tree.node(id) else { continue };
        if !TOLERANT.contains(&tree.text(name)) {
            continue;
        }
        for argument in tree.arg_slice(args) {
            if let ArgNode::Positional(node) = *argument
                && let Some(path) = leading_path(tree, node).filter(|path| !path.is_empty())
            {
                paths.push(path.into_iter().map(str::to_owned).collect());
            }
        }
    }
    paths
}
