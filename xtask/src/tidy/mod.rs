//! `cargo xtask tidy`: the rules of the house that a compiler does not know.
//!
//! Each rule is one function in one file, reads the [`Tree`] and returns every [`Problem`] it sees. A rule that
//! cannot fail is worse than none, so each file ends with tests that make it fail.

mod allow_reason;
mod changelog;
mod error_codes;
mod forbidden_text;
mod ignored_tests;
mod layers;
mod length;
mod license;
mod links;
mod manifests;
mod module_cycles;
mod problem;
mod purity;
mod rust_source;
mod sorted;
mod todo_owner;
mod tree;

use crate::args::Args;
use crate::command::Command;
use crate::failure::{Failure, Outcome};
use crate::terminal::{Style, paint};
use crate::workspace;

use problem::{Problem, Severity};
use tree::Tree;

pub(crate) const COMMAND: Command = Command {
    name: "tidy",
    about: "check the rules of the house: layers, purity, lists, links, names",
    help: "\
Usage: cargo xtask tidy [--list]

Reads every file that is tracked (or new and not ignored) and reports all problems at once, each with its
place and what to do. Errors make the command fail; warnings ask for a second look.

  --list    name the rules and stop
",
    run: |mut args: Args| {
        let list = args.flag("--list");
        args.finish()?;
        if list {
            for rule in RULES {
                println!("{:<16} {}", rule.name, rule.about);
            }
            return Ok(());
        }
        run()
    },
};

struct Rule {
    name: &'static str,
    about: &'static str,
    check: fn(&Tree) -> Vec<Problem>,
}

const RULES: &[Rule] = &[
    // sorted
    Rule { name: "allow-reason", about: "lint exceptions say why", check: allow_reason::check },
    Rule { name: "changelog", about: "fragments have a known kind and a body", check: changelog::check },
    Rule { name: "error-codes", about: "codes of problems are explained", check: error_codes::check },
    Rule {
        name: "forbidden-text",
        about: "no registry hosts, no paths of one machine",
        check: forbidden_text::check,
    },
    Rule { name: "ignored-tests", about: "no test is switched off", check: ignored_tests::check },
    Rule { name: "layers", about: "crates depend downward only", check: layers::check },
    Rule { name: "length", about: "files stay short enough to know", check: length::check },
    Rule { name: "license", about: "the licence is there and every crate names it", check: license::check },
    Rule { name: "links", about: "relative links in documents lead somewhere", check: links::check },
    Rule { name: "manifests", about: "lints and versions come from the workspace", check: manifests::check },
    Rule {
        name: "module-cycles",
        about: "modules of a crate do not import each other in a circle",
        check: module_cycles::check,
    },
    Rule { name: "purity", about: "pure crates do no I/O and read no clock", check: purity::check },
    Rule { name: "sorted", about: "marked lists are in order", check: sorted::check },
    Rule { name: "todo-owner", about: "each TODO has an owner", check: todo_owner::check },
    // end sorted
];

/// Checks the tree on disk; prints what it finds.
pub(crate) fn run() -> Outcome {
    let tree = Tree::load(&workspace::root())?;
    let mut n_errors = 0;
    let mut n_warnings = 0;
    for rule in RULES {
        let mut problems = (rule.check)(&tree);
        problems.sort();
        for problem in problems {
            match problem.severity {
                Severity::Error => n_errors += 1,
                Severity::Warning => n_warnings += 1,
            }
            println!("{}", problem.render(rule.name));
        }
    }
    let summary = format!(
        "{} rules on {} files and {} crates: {n_errors} errors, {n_warnings} warnings",
        RULES.len(),
        tree.files.len(),
        tree.members.len()
    );
    if n_errors > 0 {
        return Err(Failure::new(summary));
    }
    println!("{} {summary}", paint(Style::Good, "tidy:"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_names_are_unique_and_described() {
        for (rule_idx, rule) in RULES.iter().enumerate() {
            assert!(!rule.about.is_empty());
            assert!(RULES[..rule_idx].iter().all(|other| other.name != rule.name), "{} twice", rule.name);
        }
    }
}
