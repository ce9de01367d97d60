//! `stoker yaql reference`: the library as a page of Markdown.

use std::fmt::Write as _;

use super::functions::all_functions;
use crate::exit::Outcome;
use crate::printer::Printer;
use stoker_yaql::people::one_line;
use stoker_yaql::people::{Entry, entries};

/// Print the reference of all functions as Markdown
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  stoker yaql reference > functions.md")]
pub(crate) struct Args {}

pub(crate) fn run(printer: &mut Printer) -> Outcome {
    Ok(printer.data(&markdown(&entries(&all_functions())))?)
}

const INTRODUCTION: &str = "\
# Functions of YAQL

Written by `stoker yaql reference`; change the functions, not this page.

A signature is written as the call is. `λ` is an expression that the function evaluates itself, once for each
element, say, with `$` bound to it; `?` after a type means that null is welcome; `…` stands for any number of
arguments. Each example is run as a test. A result that begins with a capital letter is the class of an error.
";

fn markdown(entries: &[Entry]) -> String {
    let mut out = INTRODUCTION.to_owned();
    out.push('\n');
    let mut family = "";
    let mut families: Vec<&str> = entries.iter().map(|entry| entry.family.as_str()).collect();
    families.dedup();
    for name in families {
        _ = writeln!(out, "- [{name}](#{name})");
    }
    for entry in entries {
        if entry.family != family {
            family = &entry.family;
            _ = write!(out, "\n## {family}\n");
            out.push_str(about(family));
        }
        push_entry(entry, &mut out);
    }
    out
}

/// A word on families that are not always there.
fn about(family: &str) -> &'static str {
    match family {
        "delegates" => "\nOnly with delegates (`--delegates`).\n",
        "legacy" => "\nOnly with the functions of YAQL 0.2 (`--legacy context` or `--legacy full`).\n",
        "fallback" => "\nWhat is tried when nothing else fits.\n",
        _ => "",
    }
}

fn push_entry(entry: &Entry, out: &mut String) {
    _ = write!(out, "\n### {}\n\n```text\n{}\n```\n", code(&entry.title), entry.signatures.join("\n"));
    _ = write!(out, "\n{}\n", one_line(&entry.doc));
    if entry.is_impure {
        out.push_str("\n*The result depends on the clock or on random numbers.*\n");
    }
    if !entry.examples.is_empty() {
        out.push('\n');
    }
    for (expression, result) in &entry.examples {
        _ = writeln!(out, "- {} → {}", code(expression), code(result));
    }
}

/// Text as code, whatever back quotes it holds.
fn code(text: &str) -> String {
    let text = one_line(text);
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_survives_back_quotes() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("`a` + b"), "`` `a` + b ``");
    }
}
