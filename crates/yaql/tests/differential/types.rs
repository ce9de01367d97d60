//! Static types used by the generator.

use std::sync::Arc;

use stoker_yaql::value::{KindSet, ValueKind};

use crate::rng::Rng;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ty {
    Null,
    Bool,
    Int,
    Float,
    Str,
    DateTime,
    TimeSpan,
    Regex,
    Context,
    /// Any collection with this element type.
    Coll(Box<Ty>),
    Seq(Box<Ty>),
    Set(Box<Ty>),
    Iter(Box<Ty>),
    Ordering(Box<Ty>),
    /// A map with this value type.
    Dict(Box<Ty>),
    /// A map with known keys.
    Record(Arc<[(String, Ty)]>),
    /// A value of unknown type.
    Any,
}

const SCALARS: [Ty; 8] =
    [Ty::Int, Ty::Str, Ty::Int, Ty::Str, Ty::Bool, Ty::Float, Ty::DateTime, Ty::TimeSpan];

impl Ty {
    pub(crate) fn coll(element: &Self) -> Self {
        Self::Coll(Box::new(element.clone()))
    }

    pub(crate) fn seq(element: &Self) -> Self {
        Self::Seq(Box::new(element.clone()))
    }

    pub(crate) fn scalar(rng: &mut Rng) -> Self {
        rng.choose(&SCALARS).clone()
    }

    /// Chooses a type whose values can be compared with `<`.
    pub(crate) fn ordered(rng: &mut Rng) -> Self {
        rng.choose(&[Self::Int, Self::Str, Self::Int, Self::Float, Self::TimeSpan, Self::DateTime]).clone()
    }

    pub(crate) fn random(rng: &mut Rng, depth: usize) -> Self {
        let element = |rng: &mut Rng| Box::new(Self::random(rng, depth.saturating_sub(1)));
        if depth == 0 || rng.chance(55) {
            return Self::scalar(rng);
        }
        match rng.below(10) {
            0..=2 => Self::Seq(element(rng)),
            3 => Self::Coll(element(rng)),
            4 => Self::Iter(element(rng)),
            5 => Self::Set(Box::new(Self::scalar(rng))),
            6 => Self::Dict(element(rng)),
            7 => Self::record(rng, depth - 1),
            8 => Self::Null,
            _ => rng.choose(&[Self::Regex, Self::Any, Self::Any]).clone(),
        }
    }

    pub(crate) fn record(rng: &mut Rng, depth: usize) -> Self {
        const KEYS: [&str; 8] = ["a", "b", "name", "id", "roles", "n", "meta", "x"];
        let first = rng.below(KEYS.len());
        let fields =
            (0..=rng.below(4)).map(|at| (KEYS[(first + at) % 8].to_owned(), Self::random(rng, depth)));
        Self::Record(fields.collect())
    }

    /// Returns the element type of a collection.
    pub(crate) fn element(&self) -> Option<&Self> {
        match self {
            Self::Coll(element)
            | Self::Seq(element)
            | Self::Set(element)
            | Self::Iter(element)
            | Self::Ordering(element) => Some(element),
            _ => None,
        }
    }

    /// Reports whether a value of type `other` is acceptable as this type.
    pub(crate) fn accepts(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Coll(goal), other) => other.element().is_some_and(|element| goal.accepts(element)),
            (Self::Seq(goal), Self::Seq(actual))
            | (Self::Iter(goal), Self::Iter(actual))
            | (Self::Set(goal), Self::Set(actual))
            | (Self::Ordering(goal), Self::Ordering(actual))
            | (Self::Dict(goal), Self::Dict(actual)) => goal.accepts(actual),
            (Self::Dict(goal), Self::Record(fields)) => fields.iter().all(|(_, actual)| goal.accepts(actual)),
            _ => self == other,
        }
    }

    /// Chooses a type for a parameter of these kinds; `element` is the element type of the function's
    /// collection.
    pub(crate) fn of_kinds(kinds: KindSet, element: &Self, rng: &mut Rng) -> Self {
        if kinds == KindSet::ANY || kinds == KindSet::ANY.without(KindSet::Null) {
            return if rng.chance(70) { element.clone() } else { Self::random(rng, 2) };
        }
        let mut choices = Vec::new();
        let kinds_of = [
            (ValueKind::Bool, Self::Bool),
            (ValueKind::Int, Self::Int),
            (ValueKind::Int, Self::Int),
            (ValueKind::Float, Self::Float),
            (ValueKind::Str, Self::Str),
            (ValueKind::Str, Self::Str),
            (ValueKind::Tuple, Self::Seq(Box::new(element.clone()))),
            (ValueKind::FrozenDict, Self::Dict(Box::new(element.clone()))),
            (ValueKind::FrozenDict, Self::record(rng, 1)),
            (ValueKind::Set, Self::Set(Box::new(element.clone()))),
            (ValueKind::Iterator, Self::Iter(Box::new(element.clone()))),
            (ValueKind::Ordering, Self::Ordering(Box::new(element.clone()))),
            (ValueKind::DateTime, Self::DateTime),
            (ValueKind::TimeSpan, Self::TimeSpan),
            (ValueKind::Regex, Self::Regex),
            (ValueKind::Context, Self::Context),
            (ValueKind::Null, Self::Null),
        ];
        // Integer parameters accept booleans too, but those are rare in practice.
        let booleans = !kinds.has(ValueKind::Int) || rng.chance(5);
        for (kind, ty) in kinds_of {
            if kinds.has(kind) && (kind != ValueKind::Bool || booleans) {
                choices.push(ty);
            }
        }
        if choices.is_empty() { Self::Any } else { rng.choose(&choices).clone() }
    }
}
