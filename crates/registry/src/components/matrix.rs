//! Compatibility matrix of subtypes or components.

use std::collections::BTreeMap;
use std::fmt;

use super::component::Component;
use super::name::ComponentType;
use super::registry::Registry;

/// Component type with a path prefix.
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

/// Compatibility of the pairs of two subtypes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// No pair conflicts.
    Compatible,
    /// Some pairs conflict.
    Mixed,
    /// All pairs conflict.
    Conflict,
    /// There are no pairs.
    Empty,
}

impl Cell {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Compatible => "",
            Self::Mixed => "~",
            Self::Conflict => "X",
            Self::Empty => "·",
        }
    }

    fn of(n_pairs: usize, n_conflicts: usize) -> Self {
        match (n_pairs, n_conflicts) {
            (0, _) => Self::Empty,
            (_, 0) => Self::Compatible,
            (pairs, conflicts) if pairs == conflicts => Self::Conflict,
            _ => Self::Mixed,
        }
    }
}

/// Derived view of a registry. Symmetric.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Sorted by type in the order of wizard panes, then by path.
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

/// Compatibility matrix of individual components.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentMatrix<'r> {
    /// Sorted by type in the order of wizard panes, then by name.
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
