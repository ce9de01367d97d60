//! Checks of conditions and parameters over states.

use std::collections::BTreeSet;

use stoker_diagnostics::{Diagnostic, Span};
use stoker_model::TaskIdx;
use stoker_yaql::Library;
use stoker_yaql::syntax::{
    ArgNode, ArgRange, BinaryOp, Grammar, Node, NodeId, Tree, UnaryOp, VarName, parse,
};

use super::expressions::visit_expressions;
use super::links::LinkKind;
use super::{Definition, Subject};
use crate::codes;
use crate::merge::MergedTask;
use crate::state_functions::{ELEMENT_WISE, INPUTS_CHANGED, REDEFINING};

/// Functions that compare the values of their arguments in two states, and that a condition observes.
const OBSERVING: &[&str] = &["added", "changed", "changedAll", "changedAny", "deleted", "old"];
/// Reports comparisons of states in an expression that never find a difference, at the compared argument. A parameter of a
/// helper has the same value in both states, even if the caller passes `$`.
pub fn constant_comparisons(tree: &Tree, library: &Library) -> Vec<Diagnostic> {
    Analysis { tree, library: Some(library) }.compared_constants()
}

/// Paths listed in a message; the others are only counted.
const N_LISTED: usize = 3;

pub(super) fn check(
    definition: &Definition<'_, '_>,
    subject: &Subject<'_, '_>,
    library: Option<&Library>,
    findings: &mut Vec<Diagnostic>,
) {
    let task = definition.task;
    for field in task.fields() {
        let mut path = field.name.to_owned();
        visit_expressions(field.value, &mut path, &mut |path, source| {
            let Ok(tree) = parse(source, Grammar::default()) else { return };
            let comparisons = Analysis { tree: &tree, library }.compared_constants();
            // The position is one in the expression, not in the file of the task.
            findings.extend(comparisons.into_iter().map(|finding| finding.task(task.name, path).at(None)));
        });
    }
    let Some(tree) = condition_of(task) else { return };
    let analysis = Analysis { tree: &tree, library };
    if analysis.is_opaque() {
        return;
    }
    if analysis.first_run(tree.root) == Some(false) {
        let message = "the condition is never true on a first run: without an old state, `deleted()` is null and `old()` undefined";
        let help = "add a part that is true for new nodes, such as `changed()` of the same path";
        findings
            .push(Diagnostic::warning(codes::NEVER_FIRST, message).help(help).task(task.name, "condition"));
    }
    let Some(observed) = analysis.observed_paths() else { return };
    let finding = |message: String, help: &str| {
        Diagnostic::warning(codes::UNOBSERVED_INPUT, message).help(help).task(task.name, "condition")
    };
    if !definition.is_group() {
        if let Some(unobserved) = unobserved_inputs(task, &observed, library) {
            let message = format!("parameters read {unobserved}: the task does not run when they change");
            let help = "add `or inputsChanged()` to the condition, or `changed()` of these paths";
            findings.push(finding(message, help));
        }
        return;
    }
    let members = definition.links.iter().filter(|link| link.kind == LinkKind::Member);
    for member in members.filter_map(|link| subject.index_of.get(link.name)) {
        let member = subject.definition(*member);
        if follows_changes_only(member, subject, library)
            && let Some(unobserved) = unobserved_inputs(member.task, &observed, library)
        {
            let name = member.task.name;
            let message = format!(
                "parameters of the member `{name}` read {unobserved}: it does not run when they change"
            );
            findings.push(finding(message, "add `changed()` of these paths to the condition"));
        }
    }
}

fn condition_of(task: &MergedTask<'_>) -> Option<Tree> {
    parse(task.value("condition")?.get("yaql_exp")?.as_str()?, Grammar::default()).ok()
}

/// Reports whether all nodes of a task come from groups whose conditions observe paths. Otherwise it may run
/// independently of the condition of one of its groups.
fn follows_changes_only(
    member: &Definition<'_, '_>,
    subject: &Subject<'_, '_>,
    library: Option<&Library>,
) -> bool {
    let observes = |group_idx: &TaskIdx| {
        condition_of(subject.definition(*group_idx).task).is_some_and(|tree| {
            let analysis = Analysis { tree: &tree, library };
            !analysis.is_opaque() && analysis.observed_paths().is_some()
        })
    };
    let mut groups = subject.groups_of.get(member.task.name).into_iter().flatten();
    member.placement.is_empty() && groups.all(observes)
}

/// Says which paths the parameters read that a condition does not observe, and which it does.
fn unobserved_inputs(
    task: &MergedTask<'_>,
    observed: &BTreeSet<Vec<String>>,
    library: Option<&Library>,
) -> Option<String> {
    let mut read: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut is_opaque = false;
    visit_expressions(task.value("parameters")?, &mut "parameters".to_owned(), &mut |_, source| {
        let Ok(tree) = parse(source, Grammar::default()) else { return };
        let analysis = Analysis { tree: &tree, library };
        is_opaque |= analysis.is_opaque();
        analysis.paths(tree.root, false, &mut |path| _ = read.insert(path));
    });
    let is_covered =
        |path: &Vec<String>| observed.iter().any(|other| path.starts_with(other) || other.starts_with(path));
    let unobserved: Vec<&Vec<String>> = read.iter().filter(|path| !is_covered(path)).collect();
    if is_opaque || unobserved.is_empty() {
        return None;
    }
    let (unobserved, observed) = (list(unobserved.into_iter()), list(observed.iter()));
    Some(format!("{unobserved}, but the condition observes only {observed}"))
}

fn list<'p>(paths: impl ExactSizeIterator<Item = &'p Vec<String>>) -> String {
    let n_more = paths.len().saturating_sub(N_LISTED);
    let listed: Vec<String> = paths.take(N_LISTED).map(|path| format!("`$.{}`", path.join("."))).collect();
    let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
    format!("{}{more}", listed.join(", "))
}

struct Analysis<'t> {
    tree: &'t Tree,
    library: Option<&'t Library>,
}

impl Analysis<'_> {
    fn nodes(&self) -> impl Iterator<Item = NodeId> {
        0..self.tree.nodes.len() as NodeId
    }

    /// Whether the meaning of names depends on the evaluation.
    fn is_opaque(&self) -> bool {
        self.nodes().any(|id| match *self.tree.node(id) {
            Node::Invoke { .. } | Node::BadDot { .. } => true,
            Node::Call { name, .. } | Node::Method { name, .. } => {
                let name = self.tree.text(name);
                REDEFINING.contains(&name) || self.is_helper(name)
            }
            _ => false,
        })
    }

    fn bodies(&self, name: &str) -> Vec<String> {
        let entry = self.library.and_then(|library| library.get(name));
        let layers = entry.into_iter().flat_map(|entry| [entry.layers(false), entry.layers(true)]).flatten();
        layers.flatten().filter_map(|overload| overload.function.body().map(str::to_owned)).collect()
    }

    fn is_helper(&self, name: &str) -> bool {
        !self.bodies(name).is_empty()
    }

    fn args(&self, args: ArgRange) -> impl Iterator<Item = NodeId> {
        self.tree
            .arg_slice(args)
            .iter()
            .flat_map(|slot| match *slot {
                ArgNode::Omitted => [None, None],
                ArgNode::Positional(node) => [Some(node), None],
                ArgNode::Pair(key, value) => [Some(key), Some(value)],
            })
            .flatten()
    }

    fn children(&self, id: NodeId) -> Vec<NodeId> {
        match *self.tree.node(id) {
            Node::Const(_) | Node::Keyword(_) | Node::Dollar | Node::Var(_) => Vec::new(),
            Node::Paren(inner) | Node::Unary(_, inner) | Node::Member { receiver: inner, .. } => vec![inner],
            Node::Binary(_, left, right) | Node::BadDot { receiver: left, right, .. } => vec![left, right],
            Node::List(args) | Node::Map(args) | Node::Call { args, .. } => self.args(args).collect(),
            Node::Index { receiver, args, .. }
            | Node::Invoke { callee: receiver, args, .. }
            | Node::Method { receiver, args, .. } => [receiver].into_iter().chain(self.args(args)).collect(),
        }
    }

    /// Calls that compare an argument which has the same value in both states.
    fn compared_constants(&self) -> Vec<Diagnostic> {
        let mut comparisons = Vec::new();
        for id in self.nodes() {
            let Node::Call { name, args, .. } = *self.tree.node(id) else { continue };
            let name = self.tree.text(name);
            if OBSERVING.contains(&name) && !self.is_helper(name) {
                let constant = self.args(args).find(|argument| !self.reads_state(*argument, false));
                comparisons.extend(constant.map(|argument| self.constant_comparison(name, argument)));
            }
        }
        comparisons
    }

    fn constant_comparison(&self, function: &str, argument: NodeId) -> Diagnostic {
        let span = self.tree.span(argument);
        let range = span.start as usize..span.end as usize;
        let text = &self.tree.source[range.clone()];
        let consequence = match function {
            "added" | "deleted" => "never finds a difference",
            "old" => "has the new value",
            _ => "is never true",
        };
        let message = format!("`{function}({text})` {consequence}: `{text}` is not read from the state");
        let help = "pass a path from `$`: a variable has the same value in both states";
        Diagnostic::warning(codes::NOT_STATE, message).help(help).at(Span::in_text(&self.tree.source, range))
    }

    /// Whether a part of an expression may have different values in two states. Inside of a method that binds `$` to
    /// elements, `$` is none of the documents. `$node` and `$common` are new documents everywhere.
    fn reads_state(&self, id: NodeId, is_element: bool) -> bool {
        match *self.tree.node(id) {
            Node::Dollar => !is_element,
            Node::Invoke { .. } => true,
            Node::Call { name, .. } | Node::Method { name, .. }
                if self.tree.text(name) == INPUTS_CHANGED
                    || OBSERVING.contains(&self.tree.text(name))
                    || self.is_helper(self.tree.text(name)) =>
            {
                true
            }
            Node::Method { receiver, name, args, .. } => {
                let is_element_inside = is_element || ELEMENT_WISE.contains(&self.tree.text(name));
                self.reads_state(receiver, is_element)
                    || self.args(args).any(|argument| self.reads_state(argument, is_element_inside))
            }
            _ => self.children(id).into_iter().any(|child| self.reads_state(child, is_element)),
        }
    }

    /// The truth of a condition without an old state, if it does not depend on the new one.
    fn first_run(&self, id: NodeId) -> Option<bool> {
        match *self.tree.node(id) {
            Node::Paren(inner) => self.first_run(inner),
            Node::Const(constant) => Some(self.tree.constant(constant).is_true()),
            Node::Unary(UnaryOp::Not, inner) => {
                if self.is_call(inner, "old") {
                    Some(false)
                } else {
                    Some(!self.first_run(inner)?)
                }
            }
            Node::Binary(BinaryOp::And, left, right) => match (self.first_run(left), self.first_run(right)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Node::Binary(BinaryOp::Or, left, right) => match (self.first_run(left), self.first_run(right)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Node::Binary(BinaryOp::Eq, left, right)
                if self.is_call(left, "old") != self.is_call(right, "old") =>
            {
                Some(false)
            }
            Node::Call { .. } if self.is_call(id, "deleted") => Some(false),
            _ => None,
        }
    }

    fn is_call(&self, id: NodeId, function: &str) -> bool {
        match *self.tree.node(id) {
            Node::Paren(inner) => self.is_call(inner, function),
            Node::Call { name, .. } => self.tree.text(name) == function,
            _ => false,
        }
    }

    /// The paths that a condition observes; `None` if it observes none, or all inputs.
    fn observed_paths(&self) -> Option<BTreeSet<Vec<String>>> {
        let mut observed = BTreeSet::new();
        let mut is_whole = false;
        for id in self.nodes() {
            let Node::Call { name, args, .. } = *self.tree.node(id) else { continue };
            let name = self.tree.text(name);
            if name == INPUTS_CHANGED {
                return None;
            }
            if OBSERVING.contains(&name) {
                for argument in self.args(args) {
                    self.paths(argument, false, &mut |path| {
                        is_whole |= path.is_empty();
                        observed.insert(path);
                    });
                }
            }
        }
        (!observed.is_empty() && !is_whole).then_some(observed)
    }

    /// Calls `visit` with each path from a document; `$` of an element-wise method is none.
    fn paths(&self, id: NodeId, is_element: bool, visit: &mut impl FnMut(Vec<String>)) {
        if let Some((path, has_element_root)) = self.path(id) {
            if !(is_element && has_element_root) {
                visit(path);
            }
            return;
        }
        match *self.tree.node(id) {
            Node::Method { receiver, name, args, .. } => {
                self.paths(receiver, is_element, visit);
                let binds = ELEMENT_WISE.contains(&self.tree.text(name));
                for argument in self.args(args).collect::<Vec<_>>() {
                    self.paths(argument, is_element || binds, visit);
                }
            }
            Node::Call { name, args, .. } => {
                // State functions bind `$` to a whole document again.
                let text = self.tree.text(name);
                let rebinds = OBSERVING.contains(&text) || text == "new";
                for argument in self.args(args).collect::<Vec<_>>() {
                    self.paths(argument, is_element && !rebinds, visit);
                }
            }
            _ => {
                for child in self.children(id) {
                    self.paths(child, is_element, visit);
                }
            }
        }
    }

    /// The keys of a path such as `$.a.b` or `$node.a`, and whether it starts with `$`.
    fn path(&self, mut id: NodeId) -> Option<(Vec<String>, bool)> {
        let mut keys = Vec::new();
        loop {
            id = match *self.tree.node(id) {
                Node::Dollar => {
                    keys.reverse();
                    return Some((keys, true));
                }
                Node::Var(name) if is_document(self.tree.name(name)) => {
                    keys.reverse();
                    return Some((keys, false));
                }
                Node::Paren(inner) => inner,
                Node::Member { receiver, key, .. } => {
                    keys.push(self.tree.text(key).to_owned());
                    receiver
                }
                Node::Method { receiver, name, args, .. } if self.tree.text(name) == "get" => {
                    let key = self.args(args).next()?;
                    let (Node::Const(key) | Node::Keyword(key)) = *self.tree.node(key) else { return None };
                    keys.push(self.tree.constant(key).as_str()?.to_owned());
                    receiver
                }
                _ => return None,
            };
        }
    }
}

/// Whether a variable is a document of the node.
fn is_document(name: &VarName) -> bool {
    matches!(name, VarName::Named(name) if matches!(&**name, "node" | "common"))
}
