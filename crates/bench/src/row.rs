//! Rows of the result table.

use std::fmt::Write as _;

pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) measured: f64,
    pub(crate) unit: &'static str,
    pub(crate) limit: Limit,
}

#[derive(Clone, Copy)]
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Row {
    pub(crate) fn new(label: impl Into<String>, measured: f64, unit: &'static str, limit: Limit) -> Self {
        Self { label: label.into(), measured, unit, limit }
    }

    pub(crate) fn is_met(&self) -> bool {
        match self.limit {
            Limit::AtMost(limit) => self.measured <= limit,
            Limit::AtLeast(limit) => self.measured >= limit,
        }
    }
}

pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = String::from("| what | measured | limit | met |\n|---|---:|---:|---|\n");
    for row in rows {
        let limit = match row.limit {
            Limit::AtMost(limit) => format!("at most {limit}"),
            Limit::AtLeast(limit) => format!("at least {limit}"),
        };
        let met = if row.is_met() { "yes" } else { "NO" };
        let _ = writeln!(text, "| {} | {:.2} {} | {limit} | {met} |", row.label, row.measured, row.unit);
    }
    text
}
