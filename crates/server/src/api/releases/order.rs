//! Sort order of releases, with numeric version comparison.

use std::cmp::Ordering;

use stoker_model::{Release, compare_release_versions};
use stoker_store::{List, Page, StoreError};

const FIELDS: &[&str] = &["id", "name", "version", "description", "operating_system", "state", "created_at"];

/// Returns the requested page. The default order is newest version first, then by ID.
///
/// Sorted in memory: a database compares versions as text, where 9.0 > 10.0. There are few releases.
pub(super) fn page(mut releases: Vec<Release>, list: &List) -> Result<Page<Release>, StoreError> {
    if let Some(unknown) = list.order_by.iter().find(|order| !FIELDS.contains(&order.field.as_str())) {
        return Err(StoreError::UnknownSortField { field: unknown.field.clone(), supported: FIELDS });
    }
    releases.sort_by(|left, right| compare(left, right, list).then(left.id.cmp(&right.id)));
    let total = releases.len() as u64;
    let items =
        releases.into_iter().skip(size(list.offset)).take(list.limit.map_or(usize::MAX, size)).collect();
    Ok(Page { items, total })
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn compare(left: &Release, right: &Release, list: &List) -> Ordering {
    if list.order_by.is_empty() {
        return compare_release_versions(&right.body.version, &left.body.version);
    }
    let fields = list.order_by.iter().map(|order| {
        let ordering = compare_by(&order.field, left, right);
        if order.descending { ordering.reverse() } else { ordering }
    });
    fields.fold(Ordering::Equal, Ordering::then)
}

fn compare_by(field: &str, left: &Release, right: &Release) -> Ordering {
    let (a, b) = (&left.body, &right.body);
    match field {
        "name" => a.name.cmp(&b.name),
        "version" => compare_release_versions(&a.version, &b.version),
        "description" => a.description.cmp(&b.description),
        "operating_system" => a.operating_system.cmp(&b.operating_system),
        "state" => a.state.as_str().cmp(b.state.as_str()),
        "created_at" => left.created_at.cmp(&right.created_at),
        _ => left.id.cmp(&right.id),
    }
}
