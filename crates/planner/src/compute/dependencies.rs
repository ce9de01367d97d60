//! Static analysis: which per-node data the result of an expression depends on.
//!
//! The analysis is conservative: it may report too many dependencies, never too few. Inside `where` and other
//! element-wise methods `$` is an element of a collection, so it reads nothing beyond the collection itself;
//! `old`, `new`, `changed` and the other state functions bind `$` to whole documents again. The reads of a
//! helper count as reads of its caller. An expression that defines functions is assumed to read everything.

mod closed;
mod helpers;
mod path;

use std::collections::{BTreeSet, HashSet};

use stoker_graph::state_functions::{ELEMENT_WISE, INPUTS_CHANGED, REDEFINING};
use stoker_yaql::library::ParamType;
use stoker_yaql::syntax::{ArgNode, ArgRange, BinaryOp, Node, NodeId, VarName};
use stoker_yaql::{Expression, Library};

use crate::yaql_ext::scope::StateFunction;
use path::{Path, Root};

/// Per-node data that a result may depend on.
#[derive(Clone, Debug)]
pub(crate) struct Aspect {
    pub(crate) kind: AspectKind,
    /// The top-level keys needed to compute it; `None`: all of them.
    pub(crate) keys: Option<BTreeSet<String>>,
}

#[derive(Clone, Debug)]
pub(crate) enum AspectKind {
    /// The value at a path of a document; empty `keys`: the whole document.
    Path { document: Document, keys: Vec<String> },
    /// Whether the value of an expression changed.
    Changed(Expression),
    /// Whether a per-node value is a member of a collection that is common to all nodes.
    Member { item: Expression, collection: Expression },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Document {
    New,
    Old,
    /// The node's own document of the new state.
    Own,
}

impl AspectKind {
    /// Deduplication key: aspects with equal names are equal.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Path { document, keys } => format!("{document:?} {keys:?}"),
            Self::Changed(expression) => format!("changed {expression}"),
            Self::Member { item, collection } => format!("member {item} in {collection}"),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Dependencies {
    pub(crate) aspects: Vec<Aspect>,
    /// Whether the old common document matters.
    pub(crate) reads_old: bool,
    /// Whether `inputsChanged()` may be called.
    pub(crate) uses_inputs: bool,
    /// The top-level keys that are read; `None`: all of them.
    pub(crate) keys: Option<BTreeSet<String>>,
    /// Arguments whose results are equal for all nodes with the same old common document, with the top-level
    /// keys that each of them reads.
    pub(crate) shared: Vec<(NodeId, BTreeSet<String>)>,
    /// Arguments whose values are constant during the evaluation for one node.
    pub(crate) closed: Vec<NodeId>,
}

/// Analyses an expression. `own_keys` are all top-level keys that any node has in its own document.
pub(crate) fn dependencies(expression: &Expression, own_keys: &HashSet<&str>) -> Dependencies {
    let mut visitor = Visitor { expression, own_keys, shared: Vec::new(), call_path: Vec::new() };
    let (mut reads, mut closed) = (Reads::default(), Vec::new());
    if visitor.is_opaque() {
        reads.add_everything();
    } else {
        visitor.visit(expression.root(), Dollar::New, &mut reads);
        closed = visitor.closed();
    }
    let keys = reads.top_level_keys();
    let (reads_old, uses_inputs) = (reads.old_state, reads.uses_inputs);
    Dependencies { aspects: reads.aspects, reads_old, uses_inputs, keys, shared: visitor.shared, closed }
}

/// What `$` is bound to at a position in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dollar {
    New,
    Old,
    /// First the new document, then the old one.
    Both,
    /// An element of a collection.
    Element,
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent result")]
struct Reads {
    aspects: Vec<Aspect>,
    /// Top-level keys that are read, of either document.
    keys: BTreeSet<String>,
    /// Whether a whole document is read.
    whole_document: bool,
    old_state: bool,
    /// Whether it refers to `$` of an enclosing element-wise method.
    uses_element: bool,
    /// Whether it refers to variables bound by the expression itself.
    uses_variables: bool,
    /// Whether it calls `inputsChanged()`, whose value is neither in a document nor common to nodes.
    uses_inputs: bool,
}

impl Reads {
    fn merge(&mut self, other: Self) {
        self.add_reads(&other);
        self.aspects.extend(other.aspects);
        self.old_state |= other.old_state;
        self.uses_element |= other.uses_element;
        self.uses_variables |= other.uses_variables;
    }

    /// Adds the documents and keys that a subexpression reads.
    fn add_reads(&mut self, other: &Self) {
        self.keys.extend(other.keys.iter().cloned());
        self.whole_document |= other.whole_document;
        self.old_state |= other.old_state;
        self.uses_inputs |= other.uses_inputs;
    }

    /// Records a dependency on the whole document.
    fn add_everything(&mut self) {
        let whole = |document| Aspect { kind: AspectKind::Path { document, keys: Vec::new() }, keys: None };
        self.aspects.extend([whole(Document::New), whole(Document::Old), whole(Document::Own)]);
        self.whole_document = true;
        self.old_state = true;
        self.uses_inputs = true;
    }

    fn top_level_keys(&self) -> Option<BTreeSet<String>> {
        (!self.whole_document).then(|| self.keys.clone())
    }
}

/// Functions that bind variables.
const BINDING: &[&str] = &["as", "let", "unpack", "with"];

struct Visitor<'e> {
    expression: &'e Expression,
    own_keys: &'e HashSet<&'e str>,
    shared: Vec<(NodeId, BTreeSet<String>)>,
    /// Helper bodies on the current call path; stops at recursion.
    call_path: Vec<String>,
}

impl Visitor<'_> {
    fn library(&self) -> &Library {
        &self.expression.program().library
    }

    fn is_opaque(&self) -> bool {
        let tree = &self.expression.program().tree;
        let is_reserved =
            |name: &VarName| matches!(name, VarName::Named(name) if matches!(&**name, "node" | "common"));
        let may_shadow_reserved = tree.names.iter().any(is_reserved);
        tree.nodes.iter().any(|entry| match &entry.node {
            Node::Invoke { .. } | Node::BadDot { .. } => true,
            Node::Call { name, .. } | Node::Method { name, .. } => {
                let name = tree.text(*name);
                REDEFINING.contains(&name) || (may_shadow_reserved && BINDING.contains(&name))
            }
            _ => false,
        })
    }

    fn visit(&mut self, id: NodeId, dollar: Dollar, reads: &mut Reads) {
        if let Some(path) = self.path(id, dollar) {
            for node in &path.defaults {
                self.visit(*node, dollar, reads);
            }
            self.add_path(&path, reads);
            return;
        }
        let program = self.expression.program().clone();
        let tree = &program.tree;
        match *tree.node(id) {
            Node::Const(_) | Node::Keyword(_) => {}
            Node::Dollar => reads.uses_element = true,
            Node::Var(_) => reads.uses_variables = true,
            Node::Paren(inner) | Node::Unary(_, inner) => self.visit(inner, dollar, reads),
            Node::Binary(BinaryOp::In, item, collection) => {
                self.visit_membership(item, collection, dollar, reads);
            }
            Node::Binary(_, left, right) | Node::BadDot { receiver: left, right, .. } => {
                self.visit(left, dollar, reads);
                self.visit(right, dollar, reads);
            }
            Node::Member { receiver, .. } => self.visit(receiver, dollar, reads),
            Node::List(args) | Node::Map(args) => self.visit_args(args, dollar, reads),
            Node::Index { receiver, args, .. } | Node::Invoke { callee: receiver, args, .. } => {
                self.visit(receiver, dollar, reads);
                self.visit_args(args, dollar, reads);
            }
            Node::Method { receiver, name, args, .. } => {
                self.visit(receiver, dollar, reads);
                self.visit_helpers(tree.text(name), true, reads);
                if self.is_element_wise(tree.text(name)) {
                    let mut inner = Reads::default();
                    self.visit_args(args, Dollar::Element, &mut inner);
                    // `$` of the arguments is bound by this method.
                    inner.uses_element = false;
                    reads.merge(inner);
                } else {
                    self.visit_args(args, dollar, reads);
                }
            }
            Node::Call { name, args, .. } => {
                let is_helper = self.visit_helpers(tree.text(name), false, reads);
                reads.uses_inputs |= !is_helper && tree.text(name) == INPUTS_CHANGED;
                match state_function(tree.text(name)) {
                    Some(state_function) if !is_helper => self.visit_state_args(state_function, args, reads),
                    _ => self.visit_args(args, dollar, reads),
                }
            }
        }
    }

    fn visit_args(&mut self, args: ArgRange, dollar: Dollar, reads: &mut Reads) {
        let program = self.expression.program().clone();
        for slot in program.tree.arg_slice(args) {
            match *slot {
                ArgNode::Omitted => {}
                ArgNode::Positional(node) => self.visit(node, dollar, reads),
                ArgNode::Pair(key, value) => {
                    self.visit(key, dollar, reads);
                    self.visit(value, dollar, reads);
                }
            }
        }
    }

    /// Visits arguments that a state function evaluates over whole documents.
    fn visit_state_args(&mut self, state_function: StateFunction, args: ArgRange, reads: &mut Reads) {
        let program = self.expression.program().clone();
        let dollar = match state_function {
            StateFunction::New => Dollar::New,
            StateFunction::Old => Dollar::Old,
            StateFunction::Changed | StateFunction::Added | StateFunction::Deleted => Dollar::Both,
        };
        for slot in program.tree.arg_slice(args) {
            let ArgNode::Positional(node) = *slot else { continue };
            let mut inner = Reads::default();
            self.visit(node, dollar, &mut inner);
            inner.old_state |= state_function != StateFunction::New;
            if inner.uses_variables || inner.uses_inputs {
                reads.merge(inner);
            } else if inner.aspects.is_empty() {
                reads.add_reads(&inner);
                // Reading a whole document is recorded as an aspect, so `keys` is complete here.
                self.shared.push((node, inner.keys));
            } else if state_function == StateFunction::Changed {
                let kind = AspectKind::Changed(self.expression.subexpression(node));
                reads.aspects.push(Aspect { kind, keys: inner.top_level_keys() });
                reads.add_reads(&inner);
            } else {
                reads.merge(inner);
            }
        }
    }

    /// Visits `item in collection`. The collection is often as long as the fleet and common to all nodes, so
    /// only membership becomes an aspect.
    fn visit_membership(&mut self, item: NodeId, collection: NodeId, dollar: Dollar, reads: &mut Reads) {
        let (mut of_item, mut of_collection) = (Reads::default(), Reads::default());
        self.visit(item, dollar, &mut of_item);
        self.visit(collection, dollar, &mut of_collection);
        let is_closed = |reads: &Reads| !reads.uses_element && !reads.uses_variables && !reads.uses_inputs;
        let is_common = of_collection.aspects.is_empty() && is_closed(&of_collection);
        if dollar == Dollar::New && is_common && is_closed(&of_item) && !of_item.aspects.is_empty() {
            let (item, collection) =
                (self.expression.subexpression(item), self.expression.subexpression(collection));
            reads.add_reads(&of_collection);
            of_collection.add_reads(&of_item);
            reads.add_reads(&of_item);
            let kind = AspectKind::Member { item, collection };
            reads.aspects.push(Aspect { kind, keys: of_collection.top_level_keys() });
            return;
        }
        reads.merge(of_item);
        reads.merge(of_collection);
    }

    fn add_path(&self, path: &Path, reads: &mut Reads) {
        let (is_new, is_old, is_own) = match path.root {
            Root::Common => return,
            Root::Own => (false, false, true),
            Root::Dollar(Dollar::Element) => {
                reads.uses_element = true;
                return;
            }
            Root::Dollar(dollar) => (dollar != Dollar::Old, dollar != Dollar::New, false),
        };
        reads.old_state |= is_old;
        match path.keys.first() {
            // The node's own document is always available.
            _ if is_own => {}
            Some(key) => _ = reads.keys.insert(key.clone()),
            None => reads.whole_document = true,
        }
        if !is_own && path.keys.first().is_some_and(|key| !self.own_keys.contains(key.as_str())) {
            return;
        }
        let documents = [(is_new, Document::New), (is_old, Document::Old), (is_own, Document::Own)];
        for (_, document) in documents.into_iter().filter(|(is_read, _)| *is_read) {
            let keys = match path.keys.first() {
                _ if is_own => Some(BTreeSet::new()),
                key => key.map(|key| BTreeSet::from([key.clone()])),
            };
            reads.aspects.push(Aspect { kind: AspectKind::Path { document, keys: path.keys.clone() }, keys });
        }
    }

    fn is_element_wise(&self, name: &str) -> bool {
        let is_lambda = |kind: ParamType| kind == ParamType::Lambda;
        ELEMENT_WISE.contains(&name)
            && self.library().get(name).is_some_and(|entry| {
                entry.methods.iter().flatten().all(|overload| {
                    let signature = &overload.signature;
                    let rest = signature.rest.iter();
                    signature.params.iter().skip(1).chain(rest).all(|param| is_lambda(param.kind))
                })
            })
    }
}

fn state_function(name: &str) -> Option<StateFunction> {
    Some(match name {
        "new" => StateFunction::New,
        "old" => StateFunction::Old,
        "changed" | "changedAny" | "changedAll" => StateFunction::Changed,
        "added" => StateFunction::Added,
        "deleted" => StateFunction::Deleted,
        _ => return None,
    })
}
