//! Sorting and pagination of lists.

use crate::StoreError;

/// Page and sort order of a list. The default is all rows by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    pub limit: Option<u64>,
    pub offset: u64,
    pub order_by: Vec<SortOrder>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortOrder {
    pub field: String,
    pub descending: bool,
}

/// One page of a list and the total number of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub total: u64,
}

impl List {
    /// Reports whether the list is not paginated.
    pub(crate) fn is_unpaginated(&self) -> bool {
        self.limit.is_none() && self.offset == 0
    }

    /// Returns the `ORDER BY` clause. Ties are broken by id, so that pages neither overlap nor have gaps.
    /// User input never becomes part of the statement: a field must be one of `fields`.
    pub(crate) fn order_sql(
        &self,
        fields: &'static [&'static str],
        default: &'static str,
    ) -> Result<String, StoreError> {
        if self.order_by.is_empty() {
            return Ok(format!(" ORDER BY {default}"));
        }
        let mut terms = Vec::new();
        for order in &self.order_by {
            let column = fields.iter().find(|column| **column == order.field).ok_or_else(|| {
                StoreError::UnknownSortField { field: order.field.clone(), supported: fields }
            })?;
            // SQLite and PostgreSQL sort NULL to opposite ends by default.
            let direction = if order.descending { "DESC NULLS LAST" } else { "ASC NULLS FIRST" };
            terms.push(format!("{column} {direction}"));
        }
        terms.push("id".to_owned());
        Ok(format!(" ORDER BY {}", terms.join(", ")))
    }

    /// Returns `LIMIT … OFFSET …`, clamped to `i64`.
    pub(crate) fn limit_sql(&self) -> String {
        let clamp = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        match self.limit {
            _ if self.is_unpaginated() => String::new(),
            limit => {
                format!(" LIMIT {} OFFSET {}", limit.map_or(i64::MAX, clamp), clamp(self.offset))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_and_offset_are_clamped_to_i64() {
        let list = List { limit: Some(u64::MAX), offset: u64::MAX, order_by: Vec::new() };
        assert_eq!(list.limit_sql(), format!(" LIMIT {0} OFFSET {0}", i64::MAX));
        assert_eq!(List::default().limit_sql(), "");
    }

    #[test]
    fn order_by_unknown_field_is_rejected() {
        let by = |field: &str, descending| List {
            order_by: vec![SortOrder { field: field.to_owned(), descending }],
            ..List::default()
        };
        let sql = by("name", true).order_sql(&["id", "name"], "id").unwrap();
        assert_eq!(sql, " ORDER BY name DESC NULLS LAST, id");
        let error = by("name; DROP TABLE x", false).order_sql(&["id", "name"], "id").unwrap_err();
        assert!(matches!(error, StoreError::UnknownSortField { .. }), "{error}");
    }
}
