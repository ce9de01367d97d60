//! Order of application of modules.

use std::cmp::Ordering;

use stoker_model::ModuleItem;

/// Sort key of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApplyKey<'m> {
    pub priority_apply: bool,
    pub apply_order: i64,
    pub name: &'m str,
    pub id: &'m str,
}

impl ApplyKey<'_> {
    /// Compares two modules: priority modules first, then by ascending order; ties by name, then by id.
    pub fn compare(&self, other: &Self) -> Ordering {
        other
            .priority_apply
            .cmp(&self.priority_apply)
            .then_with(|| self.apply_order.cmp(&other.apply_order))
            .then_with(|| self.name.cmp(other.name))
            .then_with(|| self.id.cmp(other.id))
    }
}

/// Sorts modules into the order of application, independent of the order of the request.
pub fn sort_for_apply<T>(modules: &mut [T], rank: impl Fn(&T) -> ApplyKey<'_>) {
    modules.sort_by(|one, other| rank(one).compare(&rank(other)));
}

/// Returns the sort key of a module snapshot.
pub fn item_key(item: &ModuleItem) -> ApplyKey<'_> {
    ApplyKey {
        priority_apply: item.body.priority_apply,
        apply_order: item.body.apply_order,
        name: &item.body.name,
        id: &item.uuid,
    }
}
