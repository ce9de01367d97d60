//! Pagination: `limit`, `offset` and `order_by` parameters, `Content-Range` header.

use axum::http::{HeaderName, HeaderValue, StatusCode};
use stoker_store::{List, Page, SortOrder};

use crate::http::error::{ApiError, ApiResult};
use crate::http::query::{Query, query};

pub(crate) const CONTENT_RANGE: HeaderName = axum::http::header::CONTENT_RANGE;

query! {
    /// Query parameters of a list.
    pub(crate) struct Paging {
        /// Maximum number of items to return (default: all).
        limit: Option<u64> = natural,
        /// Number of items to skip.
        offset: Option<u64> = natural,
        /// Comma-separated sort fields; `-` before a name sorts in descending order.
        #[param(value_type = Option<String>)]
        order_by: Option<Vec<String>> = list,
    }
}

/// Reads the requested page of a collection.
pub(crate) fn list(query: &mut Query) -> List {
    let Paging { limit, offset, order_by } = Paging::read(query);
    let order_by = order_by.iter().flatten().map(|field| order(field)).collect();
    List { limit, offset: offset.unwrap_or(0), order_by }
}

fn order(field: &str) -> SortOrder {
    match field.strip_prefix('-') {
        Some(field) => SortOrder { field: field.to_owned(), descending: true },
        None => SortOrder { field: field.to_owned(), descending: false },
    }
}

/// Returns `objects FIRST-LAST/TOTAL`; an offset beyond the end is an error.
pub(crate) fn content_range<T>(list: &List, page: &Page<T>) -> ApiResult<HeaderValue> {
    let total = page.total;
    if list.offset > 0 && list.offset >= total {
        return Err(ApiError::new(
            StatusCode::RANGE_NOT_SATISFIABLE,
            format!("`offset` is beyond the end: the list has {total} items"),
        )
        .with_header(CONTENT_RANGE, header(&format!("objects */{total}"))));
    }
    Ok(match page.items.len() as u64 {
        0 => header(&format!("objects */{total}")),
        n_items => header(&format!("objects {}-{}/{total}", list.offset, list.offset + n_items - 1)),
    })
}

fn header(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static("objects"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_range_counts_from_zero() {
        let check = |offset, n_items, total| {
            let list = List { limit: None, offset, order_by: Vec::new() };
            let page = Page { items: vec![(); n_items], total };
            content_range(&list, &page)
                .map(|value| value.to_str().unwrap().to_owned())
                .map_err(|e| e.status().as_u16())
        };
        assert_eq!(check(0, 3, 10), Ok("objects 0-2/10".into()));
        assert_eq!(check(9, 1, 10), Ok("objects 9-9/10".into()));
        assert_eq!(check(0, 0, 0), Ok("objects */0".into()));
        assert_eq!(check(10, 0, 10), Err(416));
        assert_eq!(check(1, 0, 0), Err(416));
    }

    #[test]
    fn minus_sorts_descending() {
        let mut query = Query::parse("order_by=-name,id&limit=2&offset=4");
        let list = list(&mut query);
        assert_eq!((list.limit, list.offset), (Some(2), 4));
        assert_eq!(list.order_by[0].field, "name");
        assert!(list.order_by[0].descending);
        assert!(!list.order_by[1].descending);
    }
}
