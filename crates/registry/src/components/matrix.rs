//! Compatibility at a glance: subtypes against subtypes.

use std::collections::BTreeMap;
use std::fmt;

use super::component::Component;
use super::name::ComponentType;
use super::registry::Registry;

/// Components of one type and one kind of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subtype {
    pub kind: ComponentType,
    pub path: Vec<String>,
}

impl fmt::Display for Subtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.as_str(), self.path.join(":"))
    }
}

/// How the pairs of two subtypes get on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// None of them conflicts.
    Free,
    /// Some do.
    Mixed,
    /// All do.
    Conflict,
    /// There is no pair.
    Empty,
}

impl Cell {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Free => "",
            Self::Mixed => "~",
            Self::Conflict => "X",
            Self::Empty => "·",
        }
    }

    fn of(n_pairs: usize, n_conflicts: usize) -> Self {
        match (n_pairs, n_conflicts) {
            (0, _) => Self::Empty,
            (_, 0) => Self::Free,
            (pairs, conflicts) if pairs == conflicts => Self::Conflict,
            _ => Self::Mixed,
        }
    }
}

/// A view of the registry, never an input. Symmetric.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// By type in the order of the wizard's panes, then by path.
    pub subtypes: Vec<Subtype>,
    pub cells: Vec<Vec<Cell>>,
}

impl Registry {
    pub fn matrix(&self) -> Matrix {
        let mut groups: BTreeMap<Subtype, Vec<&Component>> = BTreeMap::new();
        for component in self.components() {
            let subtype = Subtype { kind: component.name.kind(), path: component.name.subtype().to_vec() };
            groups.entry(subtype).or_default().push(component);
        }
        let row = |members: &Vec<&Component>| groups.values().map(|others| cell(members, others)).collect();
        let cells = groups.values().map(row).collect();
        Matrix { cells, subtypes: groups.into_keys().collect() }
    }
}

/// The same over components.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentMatrix<'r> {
    /// As the subtypes are ordered, then by name.
    pub components: Vec<&'r Component>,
    pub cells: Vec<Vec<Cell>>,
}

impl Registry {
    pub fn component_matrix(&self) -> ComponentMatrix<'_> {
        let mut components: Vec<&Component> = self.components().iter().collect();
        components.sort_by(|one, other| one.name.cmp(&other.name));
        let row = |one: &&Component| components.iter().map(|other| cell(&[one], &[other])).collect();
        ComponentMatrix { cells: components.iter().map(row).collect(), components }
    }
}

fn cell(members: &[&Component], others: &[&Component]) -> Cell {
    let pairs = members.iter().flat_map(|one| others.iter().map(move |other| (one, other)));
    let (mut n_pairs, mut n_conflicts) = (0, 0);
    for (one, other) in pairs.filter(|(one, other)| one.name != other.name) {
        n_pairs += 1;
        n_conflicts += usize::from(Registry::conflict(one, other));
    }
    Cell::of(n_pairs, n_conflicts)
}
