//! `cargo xtask book`: renders the documentation to HTML and checks every link.

mod page;
mod render;
mod summary;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::args::Args;
use crate::command::Command;
use crate::failure::{Context as _, Failure, Outcome};
use crate::terminal::print_line;
use crate::workspace::{self, Metadata};

use render::Rendered;
use summary::{Entry, Summary};

/// Directory of the documentation.
const DOCS: &str = "docs";
const SUMMARY: &str = "docs/SUMMARY.md";

pub(crate) const COMMAND: Command = Command {
    name: "book",
    about: "render the documentation to HTML",
    help: "\
Usage: cargo xtask book [--out DIR]

Renders all pages of `docs` into one directory that can be opened without a web server, in the order of `docs/SUMMARY.md`.
A link to a missing file or heading is an error.

  --out DIR    Output directory (default: `book` in the target directory)
",
    run: |mut args: Args| {
        let out = args.option("--out")?.map(PathBuf::from);
        args.finish()?;
        let root = workspace::root();
        let out = match out {
            Some(out) => out,
            None => Metadata::load(&root)?.target_dir.join("book"),
        };
        make(&root, &out)
    },
};

pub(crate) fn make(root: &Path, out: &Path) -> Outcome {
    let summary = Summary::read(root)?;
    let mut pages = BTreeMap::new();
    for entry in summary.entries() {
        let path = root.join(&entry.source);
        let text = fs::read_to_string(&path).context(format!("cannot read `{}`", path.display()))?;
        pages.insert(entry.source.clone(), render::render(&text, entry, &summary));
    }
    let broken = broken_links(root, &summary, &pages);
    if !broken.is_empty() {
        return Err(Failure::new(format!("broken links:\n  {}", broken.join("\n  "))));
    }
    write(root, out, &summary, &pages)?;
    print_line(&format!("{} pages; the first is {}", pages.len(), out.join("index.html").display()));
    Ok(())
}

/// Returns the broken links to pages, headings and other files.
fn broken_links(root: &Path, summary: &Summary, pages: &BTreeMap<String, Rendered>) -> Vec<String> {
    let mut broken = Vec::new();
    for (source, page) in pages {
        for link in &page.links {
            let is_there = match pages.get(&link.path) {
                Some(target) => link.heading.as_ref().is_none_or(|heading| target.headings.contains(heading)),
                None => root.join(&link.path).exists(),
            };
            if !is_there {
                let heading =
                    link.heading.as_deref().map(|heading| format!("#{heading}")).unwrap_or_default();
                broken.push(format!("{source}: {}{heading}", link.path));
            }
        }
    }
    let n_targets = summary.entries().map(|entry| &entry.target).collect::<BTreeSet<_>>().len();
    if n_targets < summary.entries().count() {
        broken.push(format!("{SUMMARY}: two entries have the same output file"));
    }
    broken
}

fn write(root: &Path, out: &Path, summary: &Summary, pages: &BTreeMap<String, Rendered>) -> Outcome {
    if out.exists() {
        fs::remove_dir_all(out).context(format!("cannot remove `{}`", out.display()))?;
    }
    put(&out.join("book.css"), include_bytes!("book.css"))?;
    let entries: Vec<&Entry> = summary.entries().collect();
    for (at, entry) in entries.iter().enumerate() {
        let Some(page) = pages.get(&entry.source) else { continue };
        let before = at.checked_sub(1).map(|at| entries[at]);
        let html = page::page(entry, &page.body, summary, before, entries.get(at + 1).copied());
        put(&out.join(&entry.target), html.as_bytes())?;
        // Images and other linked files.
        for link in page.links.iter().filter(|link| !pages.contains_key(&link.path)) {
            let from = root.join(&link.path);
            if from.is_file() {
                let bytes = fs::read(&from).context(format!("cannot read `{}`", from.display()))?;
                put(&out.join(summary::outside(&link.path)), &bytes)?;
            }
        }
    }
    Ok(())
}

fn put(path: &Path, bytes: &[u8]) -> Outcome {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).context(format!("cannot create `{}`", folder.display()))?;
    fs::write(path, bytes).context(format!("cannot write `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(files: &[(&str, &str)]) -> (PathBuf, Outcome) {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("stoker-book-{}-{number}", std::process::id()));
        for (path, text) in files {
            put(&root.join(path), text.as_bytes()).unwrap();
        }
        let outcome = make(&root, &root.join("out"));
        (root, outcome)
    }

    #[test]
    fn pages_lead_to_each_other() {
        let (root, outcome) = book(&[
            (
                SUMMARY,
                "# Contents\n\n- [Begin](start.md)\n\n## More\n\n- [Deep](deep/page.md)\n- [Out](../OUT.md)\n",
            ),
            ("docs/start.md", "# Begin\n\nSee [there](deep/page.md#a-b) and ![it](images/x.svg).\n"),
            (
                "docs/deep/page.md",
                "# Deep\n\n## A `b`\n\n[back](../start.md), [out](../../OUT.md#out), [far](https://x.example)\n",
            ),
            ("docs/images/x.svg", "<svg/>"),
            ("docs/unlisted.md", "# Unlisted\n"),
            ("OUT.md", "# Out\n"),
        ]);
        outcome.unwrap();
        let read = |path: &str| fs::read_to_string(root.join("out").join(path)).unwrap();
        let begin = read("index.html");
        assert!(
            begin.contains("href=\"deep/page.html#a-b\"") && begin.contains("src=\"images/x.svg\""),
            "{begin}"
        );
        let deep = read("deep/page.html");
        assert!(deep.contains("<h2 id=\"a-b\">") && deep.contains("href=\"../index.html\""), "{deep}");
        assert!(
            deep.contains("href=\"../outside/OUT.html#out\"") && deep.contains("https://x.example"),
            "{deep}"
        );
        assert!(read("unlisted.html").contains("Unlisted") && read("images/x.svg") == "<svg/>");
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn links_that_lead_nowhere_are_all_message() {
        let (root, outcome) = book(&[
            (SUMMARY, "- [Begin](start.md)\n"),
            ("docs/start.md", "# Begin\n\n[a](none.md) [b](#none) [c](start.md#begin)\n"),
        ]);
        let message = outcome.unwrap_err().to_string();
        assert!(message.contains("docs/none.md") && message.contains("docs/start.md#none"), "{message}");
        assert!(!message.contains("#begin"), "{message}");
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_page_of_the_contents_that_is_missing_is_named() {
        let (root, outcome) = book(&[(SUMMARY, "- [Begin](start.md)\n")]);
        assert!(outcome.unwrap_err().to_string().contains("start.md"));
        fs::remove_dir_all(root).unwrap();
    }
}
