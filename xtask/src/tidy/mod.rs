//! `cargo xtask tidy`: project rules that the compiler does not check.
//!
//! Each rule is one function in one file: it reads the [`Tree`] and returns all [`Problem`]s. Each file ends with tests
//! that make the rule fail.

mod allow_reason;
mod api_types;
mod changelog;
mod error_chain;
mod error_codes;
mod forbidden_text;
mod ignored_tests;
mod layers;
mod length;
mod license;
mod links;
mod manifests;
mod module_cycles;
mod names;
mod problem;
mod purity;
mod rust_source;
mod silent_skips;
mod sorted;
mod spelling;
mod test_binaries;
mod todo_owner;
mod tree;
mod type_names;
mod unused_dependencies;
mod voice;

use crate::args::Args;
use crate::command::Command;
use crate::failure::{Failure, Outcome};
use crate::terminal::{Style, paint};
use crate::workspace;

use problem::{Problem, Severity};
use tree::Tree;

pub(crate) const COMMAND: Command = Command {
    name: "tidy",
    about: "check project rules: layers, purity, dependencies, links, names",
    help: "\
Usage: cargo xtask tidy [--list]

Checks every tracked or untracked file that Git does not ignore and reports all problems with their location and a fix.
Errors make the command fail; warnings do not.

  --list    List the rules and exit
",
    run: |mut args: Args| {
        let list = args.flag("--list");
        args.finish()?;
        if list {
            for rule in RULES {
                println!("{:<19} {}", rule.name, rule.about);
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
    Rule { name: "allow-reason", about: "lint exceptions have a reason", check: allow_reason::check },
    Rule {
        name: "api-types",
        about: "types of the REST API are declared once, and commands read responses into them",
        check: api_types::check,
    },
    Rule { name: "changelog", about: "fragments have a valid name and a body", check: changelog::check },
    Rule {
        name: "error-chain",
        about: "errors keep their causes in logs and messages",
        check: error_chain::check,
    },
    Rule { name: "error-codes", about: "error codes are documented", check: error_codes::check },
    Rule {
        name: "forbidden-text",
        about: "no registry hosts, no machine-specific paths",
        check: forbidden_text::check,
    },
    Rule { name: "ignored-tests", about: "no test is ignored", check: ignored_tests::check },
    Rule { name: "layers", about: "crates depend downward only", check: layers::check },
    Rule { name: "length", about: "source files are not too long", check: length::check },
    Rule {
        name: "license",
        about: "the licence is present and every crate declares it",
        check: license::check,
    },
    Rule { name: "links", about: "relative links in documents are valid", check: links::check },
    Rule {
        name: "manifests",
        about: "lints and versions are inherited from the workspace",
        check: manifests::check,
    },
    Rule {
        name: "module-cycles",
        about: "top-level modules of a crate form no import cycle",
        check: module_cycles::check,
    },
    Rule { name: "names", about: "no name is a bare participle or pronoun", check: names::check },
    Rule { name: "purity", about: "pure crates do no I/O and read no clock", check: purity::check },
    Rule { name: "silent-skips", about: "tests that return early are reported", check: silent_skips::check },
    Rule { name: "sorted", about: "marked lists are sorted", check: sorted::check },
    Rule { name: "spelling", about: "prose has British spelling", check: spelling::check },
    Rule {
        name: "test-binaries",
        about: "every file of integration tests is compiled",
        check: test_binaries::check,
    },
    Rule { name: "todo-owner", about: "each TODO has an owner", check: todo_owner::check },
    Rule { name: "type-names", about: "no two crates export the same type name", check: type_names::check },
    Rule {
        name: "unused-dependencies",
        about: "every declared dependency is used",
        check: unused_dependencies::check,
    },
    Rule { name: "voice", about: "texts name the actor and the mechanism", check: voice::check },
    // end sorted
];

/// Checks the working tree and prints all problems.
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
