//! Builder for `WHERE` clauses.

use super::{Args, Dialect};

pub(crate) struct Select {
    dialect: Dialect,
    conditions: Vec<String>,
    args: Args,
}

impl Select {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, conditions: Vec::new(), args: Args::new() }
    }

    /// Adds a condition. Its `?` placeholder is bound to the value that `add` appends.
    pub(crate) fn and(mut self, condition: &str, add: impl FnOnce(Args) -> Args) -> Self {
        let placeholder = format!("${}", self.args.len() + 1);
        self.conditions.push(condition.replace('?', &placeholder));
        self.args = add(self.args);
        self
    }

    pub(crate) fn and_int(self, condition: &str, value: Option<i64>) -> Self {
        match value {
            Some(value) => self.and(condition, |args| args.int(value)),
            None => self,
        }
    }

    #[expect(clippy::option_option, reason = "no filter, filter for NULL, filter for a value")]
    pub(crate) fn and_optional(mut self, column: &str, filter: Option<Option<i64>>) -> Self {
        match filter {
            None => self,
            Some(None) => {
                self.conditions.push(format!("{column} IS NULL"));
                self
            }
            Some(Some(id)) => self.and(&format!("{column} = ?"), |args| args.int(id)),
        }
    }

    /// Adds `column IN (ids)` with the ids as one argument, so that the statement text does not depend on
    /// their number. For PostgreSQL they are an array, which uses the index for each value; with a subquery
    /// the planner assumes a hundred rows and scans the whole table.
    pub(crate) fn and_ids(self, column: &str, ids: impl IntoIterator<Item = i64>) -> Self {
        let condition = self.in_ids(column);
        self.and(&condition, |args| args.text(&id_list(ids)))
    }

    pub(crate) fn and_texts<'t>(self, column: &str, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let condition = match self.dialect {
            Dialect::Sqlite => format!("{column} IN (SELECT value FROM json_each(?))"),
            Dialect::Postgres => format!("{column} = ANY(ARRAY(SELECT json_array_elements_text(?::json)))"),
        };
        // Text with NUL is in no row, and PostgreSQL rejects it as an argument.
        let list: Vec<&str> = texts.into_iter().filter(|text| !text.contains('\0')).collect();
        self.and(&condition, |args| args.strings(&list))
    }

    /// Adds a disjunction of conditions, each with a column and its allowed ids. Without alternatives, no row
    /// matches.
    pub(crate) fn and_any_ids(mut self, alternatives: Vec<(String, &str, Vec<i64>)>) -> Self {
        let mut terms = Vec::new();
        for (condition, column, ids) in alternatives {
            let both = format!("({condition} AND {})", self.in_ids(column));
            self = self.and(&both, |args| args.text(&id_list(ids)));
            terms.extend(self.conditions.pop());
        }
        let disjunction = if terms.is_empty() { "1 = 0".to_owned() } else { terms.join(" OR ") };
        self.conditions.push(format!("({disjunction})"));
        self
    }

    /// Returns `column IN (ids)` with a `?` for the list.
    fn in_ids(&self, column: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => format!("{column} IN (SELECT value FROM json_each(?))"),
            Dialect::Postgres => {
                format!("{column} = ANY(ARRAY(SELECT CAST(json_array_elements_text(?::json) AS BIGINT)))")
            }
        }
    }

    /// Returns ` WHERE …`, or an empty string, and the arguments.
    pub(crate) fn finish(self) -> (String, Args) {
        if self.conditions.is_empty() {
            return (String::new(), self.args);
        }
        (format!(" WHERE {}", self.conditions.join(" AND ")), self.args)
    }
}

fn id_list(ids: impl IntoIterator<Item = i64>) -> String {
    let ids: Vec<String> = ids.into_iter().map(|id| id.to_string()).collect();
    format!("[{}]", ids.join(","))
}
