//! Columns of a statement, each next to its value, so that neither can be swapped with another.

use std::borrow::Cow;
use std::fmt::Write as _;

use stoker_model::Json;

use super::{Args, Record, Value};

#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    columns: Cow<'static, [&'static str]>,
    args: Args,
}

impl Values {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Returns all columns of a record that are not generated.
    pub(crate) fn of<T: Record>(record: &T) -> Self {
        Self { columns: Cow::Borrowed(&T::table().written), args: record.write(Args::new()) }
    }

    pub(crate) fn set<T: Value>(mut self, column: &'static str, value: &T) -> Self {
        self.columns.to_mut().push(column);
        self.args = value.write(self.args);
        self
    }

    pub(crate) fn text(mut self, column: &'static str, value: &str) -> Self {
        self.columns.to_mut().push(column);
        self.args = self.args.text(value);
        self
    }

    /// Adds a text for an indexed column.
    pub(crate) fn key(mut self, column: &'static str, value: &(impl AsRef<str> + ?Sized)) -> Self {
        self.columns.to_mut().push(column);
        self.args = self.args.key(value);
        self
    }

    pub(crate) fn opt_json(mut self, column: &'static str, value: Option<&Json>) -> Self {
        self.columns.to_mut().push(column);
        self.args = self.args.opt_json(value);
        self
    }

    pub(crate) fn columns(&self) -> &[&'static str] {
        &self.columns
    }

    pub(crate) fn args(&self) -> &Args {
        &self.args
    }

    pub(crate) fn into_args(self) -> Args {
        self.args
    }

    /// Returns an insert statement. `after` follows the values: `ON CONFLICT …`, `RETURNING …`.
    pub(crate) fn insert_sql(&self, table: &str, after: &str) -> String {
        let placeholders: Vec<String> = (1..=self.columns.len()).map(|number| format!("${number}")).collect();
        format!(
            "INSERT INTO {table} ({}) VALUES ({}) {after}",
            self.columns.join(", "),
            placeholders.join(", ")
        )
    }

    /// Returns an update statement. `condition` has a `?` for each of `args`. `set` is added unchanged to the
    /// assignments.
    pub(crate) fn update(self, table: &str, set: &str, condition: &str, args: Args) -> (String, Args) {
        let columns = self.columns.iter().zip(1..).map(|(column, number)| format!("{column} = ${number}"));
        let set: Vec<String> = (!set.is_empty()).then(|| set.to_owned()).into_iter().chain(columns).collect();
        let mut sql = format!("UPDATE {table} SET {} WHERE ", set.join(", "));
        for (number, text) in condition.split('?').enumerate() {
            if number > 0 {
                let _ = write!(sql, "${}", self.columns.len() + number);
            }
            sql.push_str(text);
        }
        (sql, self.args.and(args))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_of_the_condition_follow_those_of_the_columns() {
        let values = Values::new().text("name", "a").set("rank", &Some(2_i64));
        let (sql, args) = values.update("things", "n = n + 1", "id = ? AND n = ?", Args::new().int(7).int(8));
        assert_eq!(sql, "UPDATE things SET n = n + 1, name = $1, rank = $2 WHERE id = $3 AND n = $4");
        assert_eq!(args.len(), 4);
    }
}
