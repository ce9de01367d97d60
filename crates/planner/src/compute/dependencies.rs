//! What the result of an expression depends on, beside what all nodes have in common.
//!
//! The answer may name too much, never too little. Where `$` is the element of a collection (in `where` and its kin)
//! nothing is read that was not read by naming the collection; `old`, `new`, `changed` and their kin bind `$` to whole
//! documents again. What a helper reads is read by whoever calls it. An expression that defines functions of its own is taken to read everything.

mod closed;
mod helpers;
mod path;

use std::collections::{BTreeSet, HashSet};

use stoker_yaql::library::ParamType;
use stoker_yaql::syntax::{ArgNode, ArgRange, BinaryOp, Node, NodeId, VarName};
use stoker_yaql::{Expression, Library};

use crate::yaql_ext::scope::Question;
use path::{Path, Root};

/// Something about a node that a result may depend on.
#[derive(Clone, Debug)]
pub(crate) struct Aspect {
    pub(crate) what: What,
    /// The top-level keys that have to be looked at to know it; none: all of them.
    pub(crate) keys: Option<BTreeSet<String>>,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// The value at a path of a document; no keys: the whole document.
    Path { document: Document, keys: Vec<String> },
    /// Whether an expression has changed.
    Changed(Expression),
    /// Whether something of the node is in a collection that all nodes have in common.
    Member { item: Expression, collection: Expression },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Document {
    New,
    Old,
    /// The node's own part of the new state.
    Own,
}

impl What {
    /// Equal names, equal aspects.
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
    /// Whether the old state of the cluster matters.
    pub(crate) reads_old: bool,
    /// The top-level keys that are read; none: all of them.
    pub(crate) keys: Option<BTreeSet<String>>,
    /// Arguments whose results are the same for all nodes with one old state of the cluster, and the top-level keys that
    /// each of them reads.
    pub(crate) shared: Vec<(NodeId, BTreeSet<String>)>,
    /// Arguments whose results are the same wherever in the evaluation of one node they are asked for.
    pub(crate) closed: Vec<NodeId>,
}

/// Finds the dependencies of an expression. `own_keys` are all keys that any node has in a document of its own.
pub(crate) fn dependencies(expression: &Expression, own_keys: &HashSet<&str>) -> Dependencies {
    let mut visitor = Visitor { expression, own_keys, shared: Vec::new(), inside: Vec::new() };
    let (mut found, mut closed) = (Found::default(), Vec::new());
    if visitor.is_opaque() {
        found.note_everything();
    } else {
        visitor.visit(expression.root(), Dollar::New, &mut found);
        closed = visitor.closed();
    }
    let keys = found.top_level_keys();
    Dependencies { aspects: found.aspects, reads_old: found.reads_old, keys, shared: visitor.shared, closed }
}

/// What `$` is at some place in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dollar {
    New,
    Old,
    /// The new document and then the old one.
    Both,
    /// An element of a collection.
    Element,
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an answer of its own")]
struct Found {
    aspects: Vec<Aspect>,
    /// Top-level keys that are read, of whichever document.
    keys: BTreeSet<String>,
    /// Whether a whole document is read.
    reads_whole: bool,
    reads_old: bool,
    /// Whether it needs `$` to be an element of what is around it.
    uses_element: bool,
    /// Whether it needs variables that the expression itself has set.
    uses_variables: bool,
}

impl Found {
    fn merge(&mut self, other: Self) {
        self.note_reads(&other);
        self.aspects.extend(other.aspects);
        self.reads_old |= other.reads_old;
        self.uses_element |= other.uses_element;
        self.uses_variables |= other.uses_variables;
    }

    /// What another part reads is read by the whole.
    fn note_reads(&mut self, other: &Self) {
        self.keys.extend(other.keys.iter().cloned());
        self.reads_whole |= other.reads_whole;
        self.reads_old |= other.reads_old;
    }

    /// Nothing is known, so everything may be read.
    fn note_everything(&mut self) {
        let whole = |document| Aspect { what: What::Path { document, keys: Vec::new() }, keys: None };
        self.aspects.extend([whole(Document::New), whole(Document::Old), whole(Document::Own)]);
        self.reads_whole = true;
        self.reads_old = true;
    }

    fn top_level_keys(&self) -> Option<BTreeSet<String>> {
        (!self.reads_whole).then(|| self.keys.clone())
    }
}

/// Methods that call all their arguments with `$` bound to an element of the receiver.
const ELEMENT_WISE: &[&str] = &[
    // sorted
    "all",
    "any",
    "indexWhere",
    "lastIndexWhere",
    "orderBy",
    "orderByDescending",
    "select",
    "selectMany",
    "skipWhile",
    "takeWhile",
    "thenBy",
    "thenByDescending",
    "where",
    // end sorted
];

/// Functions after which a name need not mean what it says.
const REDEFINING: &[&str] = &["call", "def", "lambda"];

/// Functions that set variables.
const BINDING: &[&str] = &["as", "let", "unpack", "with"];

struct Visitor<'e> {
    expression: &'e Expression,
    own_keys: &'e HashSet<&'e str>,
    shared: Vec<(NodeId, BTreeSet<String>)>,
    /// Bodies of helpers that lead here, so that one which calls itself is looked at once.
    inside: Vec<String>,
}

impl Visitor<'_> {
    fn library(&self) -> &Library {
        &self.expression.program().library
    }

    fn is_opaque(&self) -> bool {
        let tree = &self.expression.program().tree;
        let is_ours =
            |name: &VarName| matches!(name, VarName::Named(name) if matches!(&**name, "node" | "common"));
        let may_hide_ours = tree.names.iter().any(is_ours);
        tree.nodes.iter().any(|placed| match &placed.node {
            Node::Invoke { .. } | Node::BadDot { .. } => true,
            Node::Call { name, .. } | Node::Method { name, .. } => {
                let name = tree.text(*name);
                REDEFINING.contains(&name) || (may_hide_ours && BINDING.contains(&name))
            }
            _ => false,
        })
    }

    fn visit(&mut self, id: NodeId, dollar: Dollar, found: &mut Found) {
        if let Some(path) = self.path(id, dollar) {
            for node in &path.beside {
                self.visit(*node, dollar, found);
            }
            self.note(&path, found);
            return;
        }
        let program = self.expression.program().clone();
        let tree = &program.tree;
        match *tree.node(id) {
            Node::Const(_) | Node::Keyword(_) => {}
            Node::Dollar => found.uses_element = true,
            Node::Var(_) => found.uses_variables = true,
            Node::Paren(inner) | Node::Unary(_, inner) => self.visit(inner, dollar, found),
            Node::Binary(BinaryOp::In, item, collection) => self.membership(item, collection, dollar, found),
            Node::Binary(_, left, right) | Node::BadDot { receiver: left, right, .. } => {
                self.visit(left, dollar, found);
                self.visit(right, dollar, found);
            }
            Node::Member { receiver, .. } => self.visit(receiver, dollar, found),
            Node::List(args) | Node::Map(args) => self.arguments(args, dollar, found),
            Node::Index { receiver, args, .. } | Node::Invoke { callee: receiver, args, .. } => {
                self.visit(receiver, dollar, found);
                self.arguments(args, dollar, found);
            }
            Node::Method { receiver, name, args, .. } => {
                self.visit(receiver, dollar, found);
                self.helpers(tree.text(name), true, found);
                if self.is_element_wise(tree.text(name)) {
                    let mut inside = Found::default();
                    self.arguments(args, Dollar::Element, &mut inside);
                    // Its elements are its own business.
                    inside.uses_element = false;
                    found.merge(inside);
                } else {
                    self.arguments(args, dollar, found);
                }
            }
            Node::Call { name, args, .. } => {
                let is_helper = self.helpers(tree.text(name), false, found);
                match question(tree.text(name)) {
                    Some(question) if !is_helper => self.over_states(question, args, found),
                    _ => self.arguments(args, dollar, found),
                }
            }
        }
    }

    fn arguments(&mut self, args: ArgRange, dollar: Dollar, found: &mut Found) {
        let program = self.expression.program().clone();
        for slot in program.tree.arg_slice(args) {
            match *slot {
                ArgNode::Omitted => {}
                ArgNode::Positional(node) => self.visit(node, dollar, found),
                ArgNode::Pair(key, value) => {
                    self.visit(key, dollar, found);
                    self.visit(value, dollar, found);
                }
            }
        }
    }

    /// Arguments of a function that evaluates them over whole documents.
    fn over_states(&mut self, question: Question, args: ArgRange, found: &mut Found) {
        let program = self.expression.program().clone();
        let dollar = match question {
            Question::New => Dollar::New,
            Question::Old => Dollar::Old,
            Question::Changed | Question::Added | Question::Deleted => Dollar::Both,
        };
        for slot in program.tree.arg_slice(args) {
            let ArgNode::Positional(node) = *slot else { continue };
            let mut inside = Found::default();
            self.visit(node, dollar, &mut inside);
            inside.reads_old |= question != Question::New;
            if inside.uses_variables {
                found.merge(inside);
            } else if inside.aspects.is_empty() {
                found.note_reads(&inside);
                // Whoever reads a whole document reads something of the node's own, and is not here.
                self.shared.push((node, inside.keys));
            } else if question == Question::Changed {
                let what = What::Changed(self.expression.part(node));
                found.aspects.push(Aspect { what, keys: inside.top_level_keys() });
                found.note_reads(&inside);
            } else {
                found.merge(inside);
            }
        }
    }

    /// `item in collection`: the collection is often as long as the fleet, and the same for all of it.
    fn membership(&mut self, item: NodeId, collection: NodeId, dollar: Dollar, found: &mut Found) {
        let (mut of_item, mut of_collection) = (Found::default(), Found::default());
        self.visit(item, dollar, &mut of_item);
        self.visit(collection, dollar, &mut of_collection);
        let is_closed = |found: &Found| !found.uses_element && !found.uses_variables;
        let is_common = of_collection.aspects.is_empty() && is_closed(&of_collection);
        if dollar == Dollar::New && is_common && is_closed(&of_item) && !of_item.aspects.is_empty() {
            let (item, collection) = (self.expression.part(item), self.expression.part(collection));
            found.note_reads(&of_collection);
            of_collection.note_reads(&of_item);
            found.note_reads(&of_item);
            let what = What::Member { item, collection };
            found.aspects.push(Aspect { what, keys: of_collection.top_level_keys() });
            return;
        }
        found.merge(of_item);
        found.merge(of_collection);
    }

    fn note(&self, path: &Path, found: &mut Found) {
        let (is_new, is_old, is_own) = match path.root {
            Root::Common => return,
            Root::Own => (false, false, true),
            Root::Dollar(Dollar::Element) => {
                found.uses_element = true;
                return;
            }
            Root::Dollar(dollar) => (dollar != Dollar::Old, dollar != Dollar::New, false),
        };
        found.reads_old |= is_old;
        match path.keys.first() {
            // The node's own document is at hand in any case.
            _ if is_own => {}
            Some(key) => _ = found.keys.insert(key.clone()),
            None => found.reads_whole = true,
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
            found.aspects.push(Aspect { what: What::Path { document, keys: path.keys.clone() }, keys });
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

fn question(name: &str) -> Option<Question> {
    Some(match name {
        "new" => Question::New,
        "old" => Question::Old,
        "changed" | "changedAny" | "changedAll" => Question::Changed,
        "added" => Question::Added,
        "deleted" => Question::Deleted,
        _ => return None,
    })
}
