//! Self-check of a finished plan, independent of the planner.
//!
//! Planning shares sets, caches results and factors edges through junction vertices. This module validates
//! the result from the [`Plan`] value alone and shares no code with planning, so a planner bug cannot hide
//! itself. A finding is always a bug in the planner: user errors are reported during planning.

mod details;
mod order;
mod shape;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::plan::Plan;

/// A violated invariant of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Short stable name of the invariant, such as `order`.
    pub code: &'static str,
    /// Lowercase fragment without a trailing period.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Checks all invariants. Runs in time linear in the number of instances and edges.
pub fn check(plan: &Plan) -> Vec<Finding> {
    let mut findings = Findings::default();
    shape::check_nodes(plan, &mut findings);
    let is_numbered = shape::check_numbers(plan, &mut findings);
    shape::check_groups(plan, &mut findings);
    shape::check_choices(plan, &mut findings);
    details::check_values(plan, &mut findings);
    // With out-of-range indices, instances have no names to report.
    if is_numbered {
        details::check_instances(plan, &mut findings);
        order::check(plan, &mut findings);
    }
    findings.into_vec()
}

/// Reports placeholders left unreplaced in parameters. `names` are the known placeholder names, without
/// braces.
pub fn check_placeholders<'n>(plan: &Plan, names: impl IntoIterator<Item = &'n str>) -> Vec<Finding> {
    let mut findings = Findings::default();
    let placeholders: Vec<String> = names.into_iter().map(|name| format!("{{{name}}}")).collect();
    details::check_placeholders(plan, &placeholders, &mut findings);
    findings.into_vec()
}

/// Findings listed per code; further ones are only counted. A planner bug usually repeats for every instance.
const LISTED_MAX: usize = 10;

#[derive(Default)]
struct Findings {
    by_code: Vec<(&'static str, Vec<Finding>, usize)>,
}

impl Findings {
    fn add(&mut self, code: &'static str, message: impl FnOnce() -> String) {
        let entry_idx = self.by_code.iter().position(|(other, ..)| *other == code).unwrap_or_else(|| {
            self.by_code.push((code, Vec::new(), 0));
            self.by_code.len() - 1
        });
        let (_, listed, n_findings) = &mut self.by_code[entry_idx];
        *n_findings += 1;
        if listed.len() < LISTED_MAX {
            listed.push(Finding { code, message: message() });
        }
    }

    fn into_vec(self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (code, listed, n_findings) in self.by_code {
            let n_more = n_findings - listed.len();
            findings.extend(listed);
            if n_more > 0 {
                findings.push(Finding { code, message: format!("{n_more} more findings of this kind") });
            }
        }
        findings
    }
}
