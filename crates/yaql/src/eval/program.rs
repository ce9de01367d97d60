//! An expression ready to run: its tree, and for every call in it what can be decided without its
//! arguments, worked out when the call is first met.

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, OnceLock};

use super::resolve::{Failure, Resolved, Shape, Shapes, resolve};
use super::shortcuts::Shortcut;
use crate::library::{Library, NameEntry, PLAIN_ARGS};
use crate::syntax::{ArgNode, ArgRange, BinaryOp, Node, NodeId, Tree, UnaryOp};
use crate::value::{Kind, Map, StrKey, Value};

#[derive(Debug)]
pub struct Program {
    pub tree: Tree,
    pub library: Arc<Library>,
    /// For each member access the place where its key was last found: documents of one kind have
    /// their keys in one order. Only ever a place to look first, so the accesses of a long
    /// expression may share one.
    places: [AtomicU16; PLACES],
    /// What is known of each call, by its number.
    sites: Box<[OnceLock<Site>]>,
}

/// As many as most expressions have nodes; they lie in the program so that nothing has to be
/// allocated for them.
const PLACES: usize = 32;

/// What is known of a call before it is made.
#[derive(Debug)]
pub(crate) enum Site {
    /// The library does not know the name; `def` might.
    Unknown,
    /// These overloads remain; there may be a short way to call them.
    Resolved(Arc<Resolved>, Option<Shortcut>),
    /// No overload can fit, whatever the arguments turn out to be.
    Failed(Failure),
}

impl Program {
    pub fn new(tree: Tree, library: Arc<Library>) -> Self {
        let sites = (0..tree.sites).map(|_| OnceLock::new()).collect();
        Self { tree, library, places: Default::default(), sites }
    }

    /// The value of a member access in a map.
    #[inline]
    pub(super) fn member<'m>(&self, node: NodeId, map: &'m Map, key: &StrKey<'_>) -> Option<&'m Value> {
        let place = &self.places[node as usize % PLACES];
        let guess = usize::from(place.load(Ordering::Relaxed));
        if let Some(value) = map.get_at(guess, key) {
            return Some(value);
        }
        let found = map.find_hashed(key)?;
        place.store(found as u16, Ordering::Relaxed);
        map.entry(found).map(|(_, value)| value)
    }

    /// What is known of the call at a node.
    #[inline]
    pub(crate) fn site(&self, node: NodeId, number: u32) -> &Site {
        match self.sites.get(number as usize) {
            Some(site) => site.get_or_init(|| site_of(&self.tree, &self.library, self.tree.node(node))),
            None => &Site::Unknown,
        }
    }

    /// Why a binary operator cannot work whatever its operands turn out to be, if that is so.
    ///
    /// Operators are mostly settled by the kinds of their operands when they run; only a constant
    /// can rule one out beforehand.
    pub(super) fn binary_failure(&self, op: BinaryOp, left: NodeId, right: NodeId) -> Option<Failure> {
        if accepts_all(op) {
            return None;
        }
        let kinds = [constant_kind(&self.tree, left), constant_kind(&self.tree, right)];
        if kinds == [None, None] || is_ordinary(op, kinds) {
            return None;
        }
        self.ruled_out(op.function(), &kinds)
    }

    /// The same for an operator with one operand.
    #[inline]
    pub(super) fn unary_failure(&self, op: UnaryOp, operand: NodeId) -> Option<Failure> {
        if op == UnaryOp::Not {
            return None;
        }
        let kind = constant_kind(&self.tree, operand).filter(|kind| !is_number(*kind))?;
        self.ruled_out(op.function(), &[Some(kind)])
    }

    /// Asks the library whether an operator has no meaning for constants of these kinds.
    #[cold]
    fn ruled_out(&self, function: &str, kinds: &[Option<Kind>]) -> Option<Failure> {
        let resolved = self.library.get(function)?.plain_call(false, kinds.len())?;
        if resolved.some_accept(kinds) { None } else { Some(Failure::NoMatch) }
    }
}

fn site_of(tree: &Tree, library: &Library, node: &Node) -> Site {
    match node {
        Node::Call { name, args, .. } => call_site(tree, library, tree.text(*name), None, *args),
        Node::Method { name, args, .. } => {
            call_site(tree, library, tree.text(*name), Some(Shape::Expression), *args)
        }
        Node::Index { receiver, args, .. } => {
            operator_site(tree, library, "#indexer", Some(shape(tree, *receiver)), *args)
        }
        Node::Invoke { callee, args, .. } => {
            operator_site(tree, library, "#call", Some(shape(tree, *callee)), *args)
        }
        _ => Site::Unknown,
    }
}

fn call_site(tree: &Tree, library: &Library, name: &str, receiver: Option<Shape>, args: ArgRange) -> Site {
    let method = receiver.is_some();
    match library.get(name.trim_end_matches('_')) {
        Some(entry) if !entry.layers(method).is_empty() => {
            let site = entry_site(tree, entry, method, receiver, args);
            with_shortcut(site, entry, name, method, args.len as usize + usize::from(method))
        }
        _ => Site::Unknown,
    }
}

/// Only a function that no layer has changed may be called the short way.
fn with_shortcut(site: Site, entry: &NameEntry, name: &str, method: bool, arguments: usize) -> Site {
    match site {
        Site::Resolved(resolved, None) if resolved.in_order && entry.layers(method).len() == 1 => {
            Site::Resolved(resolved, Shortcut::of(name, method, arguments))
        }
        other => other,
    }
}

/// A call by an operator's name: what comes first is an argument and no receiver.
fn operator_site(tree: &Tree, library: &Library, name: &str, first: Option<Shape>, args: ArgRange) -> Site {
    match library.get(name) {
        Some(entry) => entry_site(tree, entry, false, first, args),
        None => Site::Unknown,
    }
}

fn entry_site(tree: &Tree, entry: &NameEntry, method: bool, first: Option<Shape>, args: ArgRange) -> Site {
    let slots = tree.arg_slice(args);
    if let Some(resolved) = common_call(tree, entry, method, first.as_ref(), slots) {
        return Site::Resolved(resolved.clone(), None);
    }
    let shapes: Shapes = first.into_iter().chain(slots.iter().map(|arg| arg_shape(tree, *arg))).collect();
    match resolve(entry.layers(method), tree, shapes) {
        Ok(resolved) => Site::Resolved(Arc::new(resolved), None),
        Err(failure) => Site::Failed(failure),
    }
}

/// What the library has ready for a call of a common form.
fn common_call<'e>(
    tree: &Tree,
    entry: &'e NameEntry,
    method: bool,
    first: Option<&Shape>,
    slots: &[ArgNode],
) -> Option<&'e Arc<Resolved>> {
    let before = usize::from(first.is_some());
    let arguments = before + slots.len();
    if !slots.is_empty() && slots.iter().all(|slot| matches!(slot, ArgNode::Pair(..))) {
        return if before == usize::from(method) { entry.paired_call(method, arguments) } else { None };
    }
    let resolved = entry.plain_call(method, arguments)?;
    let kinds = &mut [None; PLAIN_ARGS][..arguments];
    if let (Some(shape), Some(place)) = (first, kinds.first_mut()) {
        *place = shape.constant_kind();
    }
    for (place, slot) in kinds[before..].iter_mut().zip(slots) {
        let ArgNode::Positional(node) = slot else { return None };
        *place = constant_kind(tree, *node);
    }
    // As long as one overload takes all the constants the call has to be tried, and the others
    // drop out by the values then. But a receiver is known before the arguments are, so with one
    // the overloads that drop out matter to whether the arguments are evaluated.
    let settled = !method || kinds[before..].iter().all(Option::is_some);
    let accepted = if settled { resolved.some_accept(kinds) } else { resolved.all_accept(kinds) };
    accepted.then_some(resolved)
}

/// What nearly all operators with constants look like, settled without asking the library: no
/// layer can take these meanings away.
fn is_ordinary(op: BinaryOp, kinds: [Option<Kind>; 2]) -> bool {
    let all = |fits: fn(Kind) -> bool| kinds.into_iter().flatten().all(fits);
    match op {
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod | BinaryOp::Sub => all(is_number),
        BinaryOp::Add | BinaryOp::Gt | BinaryOp::Lt | BinaryOp::Ge | BinaryOp::Le => {
            all(is_number) || all(|kind| kind == Kind::Str)
        }
        BinaryOp::In => {
            kinds[1].is_none_or(|kind| kind == Kind::Str && kinds[0].is_none_or(|kind| kind == Kind::Str))
        }
        BinaryOp::Matches | BinaryOp::NotMatches => all(|kind| kind == Kind::Str),
        _ => false,
    }
}

fn accepts_all(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::And | BinaryOp::Or | BinaryOp::Pair)
}

fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Int | Kind::Float)
}

fn constant_kind(tree: &Tree, node: NodeId) -> Option<Kind> {
    match tree.node(node) {
        Node::Const(index) => Some(tree.constant(*index).kind()),
        Node::Keyword(_) => Some(Kind::Str),
        _ => None,
    }
}

pub(super) fn arg_shape(tree: &Tree, arg: ArgNode) -> Shape {
    match arg {
        ArgNode::Omitted => Shape::Omitted,
        ArgNode::Positional(node) => shape(tree, node),
        ArgNode::Pair(key, value) => Shape::Pair(key, value),
    }
}

pub(super) fn shape(tree: &Tree, node: NodeId) -> Shape {
    match tree.node(node) {
        Node::Const(index) => Shape::Constant(tree.constant(*index).kind()),
        Node::Keyword(_) => Shape::Keyword,
        Node::Call { .. } | Node::Invoke { .. } => Shape::Call,
        _ => Shape::Expression,
    }
}
