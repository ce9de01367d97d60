//! The conditions of a query, gathered one by one.

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

    /// `condition` has one `?`, which stands for the value that `add` appends.
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

    #[expect(
        clippy::option_option,
        reason = "not asked, asked for none, asked for one: as the filters have it"
    )]
    pub(crate) fn and_optional(mut self, column: &str, wanted: Option<Option<i64>>) -> Self {
        match wanted {
            None => self,
            Some(None) => {
                self.conditions.push(format!("{column} IS NULL"));
                self
            }
            Some(Some(id)) => self.and(&format!("{column} = ?"), |args| args.int(id)),
        }
    }

    /// A list is one argument, so the statement does not change with its length. For PostgreSQL it is an array: that
    /// looks for each value in the index, where a query in its place is guessed to give a hundred rows and has the
    /// whole table read.
    pub(crate) fn and_ids(self, column: &str, ids: impl IntoIterator<Item = i64>) -> Self {
        let condition = self.in_ids(column);
        self.and(&condition, |args| args.text(&id_list(ids)))
    }

    pub(crate) fn and_texts<'t>(self, column: &str, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let condition = match self.dialect {
            Dialect::Sqlite => format!("{column} IN (SELECT value FROM json_each(?))"),
            Dialect::Postgres => format!("{column} = ANY(ARRAY(SELECT json_array_elements_text(?::json)))"),
        };
        // What cannot be stored is in no row, and PostgreSQL refuses even to look for it.
        let list: Vec<&str> = texts.into_iter().filter(|text| !text.contains('\0')).collect();
        self.and(&condition, |args| args.strings(&list))
    }

    /// Any of some conditions, each with a column and the ids it may have. Of nothing, nothing.
    pub(crate) fn and_any_ids(mut self, alternatives: Vec<(String, &str, Vec<i64>)>) -> Self {
        let mut terms = Vec::new();
        for (condition, column, ids) in alternatives {
            let both = format!("({condition} AND {})", self.in_ids(column));
            self = self.and(&both, |args| args.text(&id_list(ids)));
            terms.extend(self.conditions.pop());
        }
        let either = if terms.is_empty() { "1 = 0".to_owned() } else { terms.join(" OR ") };
        self.conditions.push(format!("({either})"));
        self
    }

    /// `column IN (ids)` with a `?` for the list.
    fn in_ids(&self, column: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => format!("{column} IN (SELECT value FROM json_each(?))"),
            Dialect::Postgres => {
                format!("{column} = ANY(ARRAY(SELECT CAST(json_array_elements_text(?::json) AS BIGINT)))")
            }
        }
    }

    /// ` WHERE …`, or nothing, and the values.
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
