//! An independent look at a plan, before anybody relies on it.
//!
//! Planning is clever: sets are shared, results are reused, edges meet. What comes of it can be judged without any of
//! that, and here it is: plainly, from the value alone, sharing nothing with the code that made it. A finding is never
//! the fault of a user: what users can do wrong is told when planning.

mod details;
mod order;
mod shape;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::plan::Plan;

/// Something that must not be in a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing: a short stable name.
    pub code: &'static str,
    /// A sentence without its full stop.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Everything that is wrong with a plan. Costs as much as there are instances and edges.
pub fn check(plan: &Plan) -> Vec<Finding> {
    let mut findings = Findings::default();
    shape::check_nodes(plan, &mut findings);
    let is_numbered = shape::check_numbers(plan, &mut findings);
    shape::check_groups(plan, &mut findings);
    shape::check_choices(plan, &mut findings);
    details::check_values(plan, &mut findings);
    // Where numbers lead nowhere, names of instances cannot be told.
    if is_numbered {
        details::check_instances(plan, &mut findings);
        order::check(plan, &mut findings);
    }
    findings.into_all()
}

/// Placeholders that should have been replaced and were not: `names` are those that are known.
pub fn check_placeholders<'n>(plan: &Plan, names: impl IntoIterator<Item = &'n str>) -> Vec<Finding> {
    let mut findings = Findings::default();
    let placeholders: Vec<String> = names.into_iter().map(|name| format!("{{{name}}}")).collect();
    details::check_placeholders(plan, &placeholders, &mut findings);
    findings.into_all()
}

/// Of one kind, more than these are counted: the first ones tell what is wrong.
const TOLD_MAX: usize = 10;

#[derive(Default)]
struct Findings {
    by_code: Vec<(&'static str, Vec<Finding>, usize)>,
}

impl Findings {
    fn add(&mut self, code: &'static str, message: impl FnOnce() -> String) {
        let place = self.by_code.iter().position(|(known, ..)| *known == code).unwrap_or_else(|| {
            self.by_code.push((code, Vec::new(), 0));
            self.by_code.len() - 1
        });
        let (_, told, n_found) = &mut self.by_code[place];
        *n_found += 1;
        if told.len() < TOLD_MAX {
            told.push(Finding { code, message: message() });
        }
    }

    fn into_all(self) -> Vec<Finding> {
        let mut all = Vec::new();
        for (code, told, n_found) in self.by_code {
            let n_more = n_found - told.len();
            all.extend(told);
            if n_more > 0 {
                all.push(Finding { code, message: format!("and {n_more} more like this") });
            }
        }
        all
    }
}
