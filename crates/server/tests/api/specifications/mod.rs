//! The requirements of the five original specifications, and how each is met: a test shows that it works, or the page
//! about differences has the reason why Stoker deviates.

mod expressions;
mod graphs;
mod modules;
mod registry;
mod stages;

use std::collections::BTreeSet;

use crate::published_fields::{read, test_functions};

/// Id, requirement in our own words, result.
type Row = (&'static str, &'static str, Outcome);

enum Outcome {
    /// Name of the test that shows it, as `file::name` if several files have such a test.
    Works(&'static str),
    /// Anchor of the section of `docs/specification-differences.md`.
    Differs(&'static str),
}

use Outcome::{Differs, Works};

const PAGE: &str = "docs/specification-differences.md";

const SPECIFICATIONS: &[&[Row]] =
    &[stages::ROWS, graphs::ROWS, registry::ROWS, expressions::ROWS, modules::ROWS];

/// Returns the anchors of the sections of a page, as its renderer builds them.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter_map(|line| line.strip_prefix("### "));
    let anchor = |heading: &str| {
        let letters = heading.to_lowercase();
        let kept = letters.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect::<String>()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_requirement_has_a_test_or_a_documented_difference() {
    let (tests, anchors) = (test_functions(), anchors(&read(PAGE)));
    let (mut problems, mut ids, mut used) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for (id, requirement, outcome) in SPECIFICATIONS.iter().copied().flatten() {
        if !ids.insert(id) {
            problems.push(format!("{id} is there twice"));
        }
        if requirement.is_empty() {
            problems.push(format!("{id} has no requirement"));
        }
        match outcome {
            Works(name) => match tests.get(*name).map_or(0, Vec::len) {
                1 => {}
                0 => problems.push(format!("{id}: there is no test `{name}`")),
                n => problems.push(format!("{id}: there are {n} tests `{name}`; write `file::{name}`")),
            },
            Differs(anchor) => {
                used.insert((*anchor).to_owned());
                if !anchors.contains(*anchor) {
                    problems.push(format!("{id}: {PAGE} has no section `{anchor}`"));
                }
            }
        }
    }
    problems.extend(
        anchors.difference(&used).map(|anchor| format!("{PAGE}: no requirement differs by `{anchor}`")),
    );
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(ids.len() >= 209, "{} requirements", ids.len());
}
