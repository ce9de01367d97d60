//! Placement as written in definitions: roles and tags, independent of nodes.

use std::collections::BTreeSet;

use stoker_model::{Json, placement_field};

use super::links::items;
use crate::merge::MergedTask;

/// A set of roles and tags as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Placement<'a> {
    /// `*`: every node except the master.
    pub(super) everywhere: bool,
    pub(super) master: bool,
    /// Names and patterns.
    pub(super) targets: BTreeSet<&'a str>,
    /// Whether a part of the placement is computed.
    pub(super) computed: bool,
}

impl<'a> Placement<'a> {
    pub(super) fn of_task(task: &MergedTask<'a>) -> Self {
        Self::of_value(placement_field(|field| task.value(field)).and_then(|field| task.value(field)))
    }

    pub(super) fn of_value(value: Option<&'a Json>) -> Self {
        let mut placement = Self { computed: matches!(value, Some(Json::Object(_))), ..Self::default() };
        for (_, item) in items(value) {
            match item.as_str() {
                None => placement.computed = true,
                Some("*") => placement.everywhere = true,
                Some("master") => placement.master = true,
                Some(name) => _ = placement.targets.insert(name),
            }
        }
        placement
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.everywhere |= other.everywhere;
        self.master |= other.master;
        self.computed |= other.computed;
        self.targets.extend(&other.targets);
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reports whether two tasks with these placements could share a node, given a node with suitable roles.
    pub(super) fn can_share_node(&self, other: &Self) -> bool {
        if self.computed || other.computed || (self.master && other.master) {
            return true;
        }
        let is_off_master = |placement: &Self| placement.everywhere || !placement.targets.is_empty();
        if self.everywhere || other.everywhere {
            return is_off_master(self) && is_off_master(other);
        }
        self.targets.iter().any(|ours| other.targets.iter().any(|theirs| is_compatible(ours, theirs)))
    }
}

/// Reports whether a node can have both roles. The primary node of a tag has `primary-t` instead of `t`, so
/// no node has both.
fn is_compatible(a: &str, b: &str) -> bool {
    let is_primary_of = |a: &str, b: &str| a.strip_prefix("primary-") == Some(b);
    !is_primary_of(a, b) && !is_primary_of(b, a)
}
