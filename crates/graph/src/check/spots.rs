//! The places a definition names: roles and tags, before there are nodes.

use std::collections::BTreeSet;

use stoker_model::Json;

use super::links::items;
use crate::merge::MergedTask;

/// Fields that say where a task runs; the first that is there decides.
pub(super) const PLACE_FIELDS: [&str; 3] = ["tags", "roles", "groups"];

/// A set of places as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spots<'a> {
    /// `*`: every node but the master.
    pub(super) everywhere: bool,
    pub(super) master: bool,
    /// Names and patterns.
    pub(super) named: BTreeSet<&'a str>,
    /// Part of it is computed.
    pub(super) computed: bool,
}

impl<'a> Spots<'a> {
    pub(super) fn of_task(task: &MergedTask<'a>) -> Self {
        let field = PLACE_FIELDS.iter().find_map(|field| decides(field, task.value(field)));
        Self::of_value(field)
    }

    pub(super) fn of_value(value: Option<&'a Json>) -> Self {
        let mut spots = Self { computed: matches!(value, Some(Json::Object(_))), ..Self::default() };
        for (_, item) in items(value) {
            match item.as_str() {
                None => spots.computed = true,
                Some("*") => spots.everywhere = true,
                Some("master") => spots.master = true,
                Some(name) => _ = spots.named.insert(name),
            }
        }
        spots
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.everywhere |= other.everywhere;
        self.master |= other.master;
        self.computed |= other.computed;
        self.named.extend(&other.named);
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether tasks with these places could both be on one node, if some node had the roles for it.
    pub(super) fn can_meet(&self, other: &Self) -> bool {
        if self.computed || other.computed || (self.master && other.master) {
            return true;
        }
        let is_off_master = |spots: &Self| spots.everywhere || !spots.named.is_empty();
        if self.everywhere || other.everywhere {
            return is_off_master(self) && is_off_master(other);
        }
        self.named.iter().any(|ours| other.named.iter().any(|theirs| is_compatible(ours, theirs)))
    }
}

/// `groups` counts only when nothing is said in `roles`; tags count even when they are empty.
fn decides<'a>(field: &str, value: Option<&'a Json>) -> Option<&'a Json> {
    let is_empty = |value: &Json| matches!(value, Json::Array(items) if items.is_empty()) || value == "";
    value.filter(|value| field == "tags" || !is_empty(value))
}

/// On the primary node of a tag, `primary-t` stands in place of `t`.
fn is_compatible(a: &str, b: &str) -> bool {
    let is_primary_of = |a: &str, b: &str| a.strip_prefix("primary-") == Some(b);
    !is_primary_of(a, b) && !is_primary_of(b, a)
}
