//! Self-check of a finished plan, independent of the planner.
//!
//! Planning shares sets, caches results and factors edges through junction vertices. This module validates
//! the result from the [`Plan`] value alone and shares no code with planning, so a planner bug cannot hide
//! itself. A violated invariant is always a bug in the planner: user errors are reported during planning.

mod details;
mod order;
mod shape;
#[cfg(test)]
mod tests;

use stoker_diagnostics::Diagnostic;

use crate::plan::Plan;

/// Checks all invariants and returns violations with the short name of the invariant, such as `order`, as code. Runs in time linear in the number of instances and edges.
pub fn check(plan: &Plan) -> Vec<Diagnostic> {
    let mut violations = Violations::default();
    shape::check_nodes(plan, &mut violations);
    let is_numbered = shape::check_numbers(plan, &mut violations);
    shape::check_groups(plan, &mut violations);
    shape::check_choices(plan, &mut violations);
    details::check_values(plan, &mut violations);
    // With out-of-range indices, instances have no names to report.
    if is_numbered {
        details::check_instances(plan, &mut violations);
        order::check(plan, &mut violations);
    }
    violations.into_vec()
}

/// Reports placeholders left unreplaced in parameters. `names` are the known placeholder names, without
/// braces.
pub fn check_placeholders<'n>(plan: &Plan, names: impl IntoIterator<Item = &'n str>) -> Vec<Diagnostic> {
    let mut violations = Violations::default();
    let placeholders: Vec<String> = names.into_iter().map(|name| format!("{{{name}}}")).collect();
    details::check_placeholders(plan, &placeholders, &mut violations);
    violations.into_vec()
}

/// Violations listed per code; further ones are only counted. A planner bug usually repeats for every instance.
const LISTED_MAX: usize = 10;

#[derive(Default)]
struct Violations {
    by_code: Vec<(&'static str, Vec<Diagnostic>, usize)>,
}

impl Violations {
    fn add(&mut self, code: &'static str, message: impl FnOnce() -> String) {
        let entry_idx = self.by_code.iter().position(|(other, ..)| *other == code).unwrap_or_else(|| {
            self.by_code.push((code, Vec::new(), 0));
            self.by_code.len() - 1
        });
        let (_, listed, n_violations) = &mut self.by_code[entry_idx];
        *n_violations += 1;
        if listed.len() < LISTED_MAX {
            listed.push(Diagnostic::error(code, message()));
        }
    }

    fn into_vec(self) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        for (code, listed, n_violations) in self.by_code {
            let n_more = n_violations - listed.len();
            diagnostics.extend(listed);
            if n_more > 0 {
                diagnostics.push(Diagnostic::error(code, format!("{n_more} more violations of this kind")));
            }
        }
        diagnostics
    }
}
