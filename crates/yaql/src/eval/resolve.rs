//! Choosing overloads, as far as that can be done without evaluating anything.

use std::sync::Arc;

use smallvec::SmallVec;

use super::context::Ctx;
use crate::error::ErrorClass;
use crate::library::{Overload, Param, ParamType};
use crate::syntax::{NodeId, Tree};
use crate::value::Kind;

/// What an argument looks like before it is evaluated.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Omitted,
    Constant(Kind),
    Keyword,
    /// A call of a function by name, which can also be made on a receiver.
    Call,
    Expression,
    Pair(NodeId, NodeId),
    /// Not an expression but a value, as in `call(name, args, kwargs)`.
    Value(Kind),
}

impl Shape {
    /// The kind of a constant; words that stand for themselves are strings.
    pub(super) fn constant_kind(&self) -> Option<Kind> {
        match self {
            Self::Constant(kind) => Some(*kind),
            Self::Keyword => Some(Kind::Str),
            _ => None,
        }
    }
}

pub(super) type Shapes = SmallVec<[Shape; 6]>;

/// The overloads that may still fit, and how arguments go to their parameters.
#[derive(Debug)]
pub(crate) struct Resolved {
    /// Innermost layer first.
    pub layers: SmallVec<[SmallVec<[Candidate; 2]>; 1]>,
    /// Bit by bit, which positional arguments stay unevaluated.
    pub lazy: u64,
    /// Which arguments, by position as written, are named ones, and how they are called.
    pub named: SmallVec<[NamedArg; 1]>,
    /// Whether every argument goes to a parameter in order.
    pub in_order: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct NamedArg {
    /// The name: a keyword node.
    pub key: NodeId,
    pub value: NodeId,
    pub lazy: bool,
}

#[derive(Debug)]
pub(crate) struct Candidate {
    pub overload: Arc<Overload>,
    pub binding: Binding,
    /// Where a function made by `def` was found: the context it closes over.
    pub closure: Option<Ctx>,
}

/// Which argument each parameter gets.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// The first argument to the first parameter and so on.
    InOrder,
    /// One source per parameter; positional arguments beyond the parameters go to the rest.
    Mixed(Box<[Source]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Positional(usize),
    Named(usize),
    Default,
}

/// Why no overload is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    NoMatch,
    Ambiguous,
    /// `k => v` where k is not a bare keyword and names are meant.
    BadName,
}

impl Failure {
    pub(crate) fn class(self, method: bool) -> ErrorClass {
        match (self, method) {
            (Self::NoMatch, false) => ErrorClass::NoMatchingFunction,
            (Self::NoMatch, true) => ErrorClass::NoMatchingMethod,
            (Self::Ambiguous, false) => ErrorClass::AmbiguousFunction,
            (Self::Ambiguous, true) => ErrorClass::AmbiguousMethod,
            (Self::BadName, _) => ErrorClass::MappingTranslation,
        }
    }
}

/// Finds the overloads of a library entry that fit the shapes of the arguments.
pub(super) fn resolve(
    layers: &[Vec<Arc<Overload>>],
    tree: &Tree,
    shapes: Shapes,
) -> Result<Resolved, Failure> {
    let candidates = layers.iter().map(|layer| layer.iter().map(|overload| (overload, None)));
    resolve_candidates(candidates, tree, shapes, &[])
}

/// The overloads for a call with so many arguments about which nothing else is known.
pub(crate) fn resolve_plain(layers: &[Vec<Arc<Overload>>], arguments: usize) -> Option<Resolved> {
    resolve(layers, &Tree::default(), SmallVec::from_elem(Shape::Expression, arguments)).ok()
}

/// The overloads for a call with so many pairs, after the receiver if there is one.
pub(crate) fn resolve_paired(
    layers: &[Vec<Arc<Overload>>],
    method: bool,
    arguments: usize,
) -> Option<Resolved> {
    // Where pairs are meant to be names, the names matter.
    if !layers.iter().flatten().all(|overload| overload.signature.pairs) {
        return None;
    }
    let mut shapes = SmallVec::from_elem(Shape::Pair(0, 0), arguments);
    if method {
        *shapes.first_mut()? = Shape::Expression;
    }
    resolve(layers, &Tree::default(), shapes).ok()
}

impl Candidate {
    fn accepts(&self, kinds: &[Option<Kind>]) -> bool {
        let signature = &self.overload.signature;
        kinds.iter().enumerate().all(|(argument, kind)| {
            let param = signature.params.get(argument).or(signature.rest.as_ref());
            kind.is_none_or(|kind| param.is_some_and(|param| param.kind.accepts(kind, true)))
        })
    }
}

impl Resolved {
    /// Whether a positional argument stays unevaluated. Beyond the bits of a word all are like the
    /// last.
    pub(super) fn is_lazy(&self, argument: usize) -> bool {
        self.lazy & (1 << argument.min(63)) != 0
    }

    /// Whether some overload that is left accepts constants of these kinds.
    pub(super) fn some_accept(&self, kinds: &[Option<Kind>]) -> bool {
        self.layers.iter().flatten().any(|candidate| candidate.accepts(kinds))
    }

    /// Whether constants of these kinds rule no overload out.
    pub(super) fn all_accept(&self, kinds: &[Option<Kind>]) -> bool {
        self.layers.iter().flatten().all(|candidate| candidate.accepts(kinds))
    }
}

/// The same over any layers; `values` are arguments given by name as values.
pub(super) fn resolve_candidates<'a, L>(
    layers: impl Iterator<Item = L>,
    tree: &Tree,
    shapes: Shapes,
    values: &[(Box<str>, Kind)],
) -> Result<Resolved, Failure>
where
    L: Iterator<Item = (&'a Arc<Overload>, Option<&'a Ctx>)>,
{
    let mut state = Resolution { tree, pairs: None, positional: shapes, named: SmallVec::new(), lazy: None };
    let mut resolved: SmallVec<[SmallVec<[Candidate; 2]>; 1]> = SmallVec::new();
    for layer in layers {
        let mut fitting = SmallVec::new();
        for (overload, closure) in layer {
            state.translate(overload.signature.pairs)?;
            if let Some(binding) = state.bind(overload, values)? {
                fitting.push(Candidate { overload: overload.clone(), binding, closure: closure.cloned() });
            }
        }
        if !fitting.is_empty() {
            resolved.push(fitting);
        }
    }
    let Some((lazy, lazy_named)) = state.lazy else { return Err(Failure::NoMatch) };
    for (index, named) in state.named.iter_mut().enumerate() {
        named.lazy = index < 64 && lazy_named & (1 << index) != 0;
    }
    let in_order = resolved.iter().flatten().all(|candidate| matches!(candidate.binding, Binding::InOrder));
    Ok(Resolved { layers: resolved, lazy, named: state.named, in_order })
}

struct Resolution<'a> {
    tree: &'a Tree,
    /// Whether `k => v` are pairs (or named arguments); settled by the first overload seen.
    pairs: Option<bool>,
    positional: Shapes,
    named: SmallVec<[NamedArg; 1]>,
    /// Which arguments are lazy, positional and named; all overloads must agree.
    lazy: Option<(u64, u64)>,
}

impl Resolution<'_> {
    /// Turns `k => v` into named arguments, unless the overload wants pairs.
    fn translate(&mut self, pairs: bool) -> Result<(), Failure> {
        match self.pairs {
            Some(known) if known == pairs => return Ok(()),
            Some(_) => return Err(Failure::Ambiguous),
            None => self.pairs = Some(pairs),
        }
        if pairs || !self.positional.iter().any(|shape| matches!(shape, Shape::Pair(..))) {
            return Ok(());
        }
        let mut positional = Shapes::new();
        for shape in std::mem::take(&mut self.positional) {
            let Shape::Pair(key, value) = shape else {
                positional.push(shape);
                continue;
            };
            let Some(name) = self.tree.keyword(key) else { return Err(Failure::BadName) };
            match self.named.iter_mut().find(|named| self.tree.keyword(named.key) == Some(name)) {
                // A repeated name: the last one wins.
                Some(named) => named.value = value,
                None => self.named.push(NamedArg { key, value, lazy: false }),
            }
        }
        self.positional = positional;
        Ok(())
    }

    fn bind(&mut self, overload: &Overload, values: &[(Box<str>, Kind)]) -> Result<Option<Binding>, Failure> {
        let Some((binding, lazy)) = self.try_bind(overload, values) else { return Ok(None) };
        match self.lazy {
            Some(known) if known != lazy => Err(Failure::Ambiguous),
            _ => {
                self.lazy = Some(lazy);
                Ok(Some(binding))
            }
        }
    }

    fn try_bind(&self, overload: &Overload, values: &[(Box<str>, Kind)]) -> Option<(Binding, (u64, u64))> {
        let signature = &overload.signature;
        let in_order = self.named.is_empty()
            && values.is_empty()
            && !self.positional.iter().any(|shape| matches!(shape, Shape::Omitted));
        let mut lazy = (0, 0);
        let mut used_named: SmallVec<[bool; 16]> =
            SmallVec::from_elem(false, self.named.len() + values.len());
        let mut sources: SmallVec<[Source; 8]> = SmallVec::new();
        for (index, param) in signature.params.iter().enumerate() {
            let by_name = self.named_index(&param.name, values);
            let source = match self.positional.get(index) {
                // An empty slot and a name are one argument too many for one parameter.
                Some(Shape::Omitted) if by_name.is_some() && signature.rest.is_none() => return None,
                Some(Shape::Omitted) | None => {
                    if let Some(named) = by_name {
                        Source::Named(named)
                    } else {
                        param.default.as_ref()?;
                        Source::Default
                    }
                }
                Some(_) if by_name.is_some() => return None,
                Some(_) => Source::Positional(index),
            };
            match source {
                Source::Positional(at) => self.check_positional(at, param, &mut lazy.0)?,
                Source::Named(named) => {
                    // Unlike in its place, a constant by name is looked at only when all
                    // arguments have been evaluated.
                    used_named[named] = true;
                    lazy.1 |= lazy_bit(named, param);
                }
                Source::Default => {
                    // A slot left empty is lazy or not like the parameter that it stands for.
                    if index < self.positional.len().min(63) && param.kind.is_lazy() {
                        lazy.0 |= 1 << index;
                    }
                }
            }
            sources.push(source);
        }
        for at in signature.params.len()..self.positional.len() {
            self.check_positional(at, signature.rest.as_ref()?, &mut lazy.0)?;
        }
        for (named, used) in used_named.iter().enumerate() {
            if !used {
                self.check_named(named, signature.named_rest.as_ref()?, values, &mut lazy.1)?;
            }
        }
        let binding = if in_order { Binding::InOrder } else { Binding::Mixed(sources.into_vec().into()) };
        Some((binding, lazy))
    }

    fn named_index(&self, name: &str, values: &[(Box<str>, Kind)]) -> Option<usize> {
        let written = self.named.iter().position(|named| self.tree.keyword(named.key) == Some(name));
        written
            .or_else(|| values.iter().position(|(known, _)| **known == *name).map(|at| at + self.named.len()))
    }

    fn check_positional(&self, at: usize, param: &Param, lazy: &mut u64) -> Option<()> {
        if at >= 63 && param.kind.is_lazy() {
            // More lazy arguments than a word has bits: all behave like the last.
            *lazy |= 1 << 63;
        } else if param.kind.is_lazy() {
            *lazy |= 1 << at;
        }
        Self::fits(self.positional.get(at)?, param.kind).then_some(())
    }

    fn check_named(
        &self,
        at: usize,
        param: &Param,
        values: &[(Box<str>, Kind)],
        lazy: &mut u64,
    ) -> Option<()> {
        *lazy |= lazy_bit(at, param);
        let shape = match self.named.get(at) {
            Some(named) => super::program::shape(self.tree, named.value),
            None => Shape::Value(values.get(at - self.named.len())?.1),
        };
        Self::fits(&shape, param.kind).then_some(())
    }

    /// What is known without evaluating: constants must fit, other expressions might.
    fn fits(shape: &Shape, kind: ParamType) -> bool {
        match (shape, kind) {
            (Shape::Keyword, ParamType::Keyword) => true,
            (_, ParamType::Keyword) => false,
            (Shape::Pair(..), ParamType::LazyPair) => true,
            (_, ParamType::LazyPair) => false,
            (Shape::Value(_), ParamType::Expression) => false,
            (_, ParamType::Expression) => true,
            (Shape::Call | Shape::Value(_), ParamType::MethodLambda) => true,
            (_, ParamType::MethodLambda) => false,
            (_, ParamType::Lambda | ParamType::LambdaInContext) => true,
            (Shape::Constant(kind) | Shape::Value(kind), expected) => expected.accepts(*kind, true),
            (Shape::Keyword, expected) => expected.accepts(Kind::Str, true),
            (Shape::Omitted, expected) => expected.accepts(Kind::Omitted, true),
            (Shape::Call | Shape::Expression | Shape::Pair(..), _) => true,
        }
    }
}

fn lazy_bit(named: usize, param: &Param) -> u64 {
    if named < 64 && param.kind.is_lazy() { 1 << named } else { 0 }
}
