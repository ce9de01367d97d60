//! The table of contents: `docs/SUMMARY.md`, a list of links under headings.

use std::fs;
use std::path::Path;

use super::{DOCS, SUMMARY};
use crate::failure::{Context as _, Failure, Outcome};

/// Title of the part for pages that `SUMMARY.md` does not list.
const REST: &str = "More";

/// A page of the book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) title: String,
    /// Path relative to the repository.
    pub(super) source: String,
    /// Path relative to the book.
    pub(super) target: String,
}

#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) title: String,
    pub(super) entries: Vec<Entry>,
}

#[derive(Debug, Default)]
pub(super) struct Summary {
    pub(super) parts: Vec<Part>,
}

impl Summary {
    pub(super) fn read(root: &Path) -> Outcome<Self> {
        let text = fs::read_to_string(root.join(SUMMARY)).context(format!("cannot read `{SUMMARY}`"))?;
        let mut summary = Self::parse(&text)?;
        let mut rest = Vec::new();
        unlisted(root, Path::new(DOCS), &summary, &mut rest)?;
        if !rest.is_empty() {
            rest.sort_by(|a, b| a.source.cmp(&b.source));
            summary.parts.push(Part { title: REST.to_owned(), entries: rest });
        }
        Ok(summary)
    }

    fn parse(text: &str) -> Outcome<Self> {
        let mut parts = vec![Part::default()];
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("## ") {
                parts.push(Part { title: title.trim().to_owned(), entries: Vec::new() });
            } else if let Some((title, path)) = link(line) {
                let source = resolve(SUMMARY, path).ok_or_else(|| {
                    Failure::new(format!("{SUMMARY}: `{path}` is outside of the repository"))
                })?;
                let is_first = parts.iter().all(|part| part.entries.is_empty());
                let target = if is_first { "index.html".to_owned() } else { target(&source) };
                let entry = Entry { title: title.to_owned(), source, target };
                if let Some(part) = parts.last_mut() {
                    part.entries.push(entry);
                }
            }
        }
        parts.retain(|part| !part.entries.is_empty());
        if parts.is_empty() {
            return Err(Failure::new(format!("`{SUMMARY}` lists no page")));
        }
        Ok(Self { parts })
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.parts.iter().flat_map(|part| &part.entries)
    }

    pub(super) fn find(&self, source: &str) -> Option<&Entry> {
        self.entries().find(|entry| entry.source == source)
    }
}

/// Collects the pages that the table of contents does not list.
fn unlisted(root: &Path, folder: &Path, summary: &Summary, rest: &mut Vec<Entry>) -> Outcome {
    let path = root.join(folder);
    for entry in fs::read_dir(&path).context(format!("cannot read `{}`", path.display()))? {
        let name = folder.join(entry.context("cannot read a directory")?.file_name());
        let source = name.to_string_lossy().into_owned();
        if root.join(&name).is_dir() {
            unlisted(root, &name, summary, rest)?;
        } else if name.extension().is_some_and(|end| end == "md")
            && source != SUMMARY
            && summary.find(&source).is_none()
        {
            let text = fs::read_to_string(root.join(&name)).context(format!("cannot read `{source}`"))?;
            let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(&source).to_owned();
            rest.push(Entry { title, target: target(&source), source });
        }
    }
    Ok(())
}

/// Parses a line `- [title](path)`.
fn link(line: &str) -> Option<(&str, &str)> {
    let (title, path) = line.trim_start().strip_prefix("- [")?.split_once("](")?;
    Some((title, path.trim_end().strip_suffix(')')?))
}

/// Returns the output path of a page.
fn target(source: &str) -> String {
    let outside = outside(source);
    outside.strip_suffix(".md").map_or(outside.clone(), |stem| format!("{stem}.html"))
}

/// Returns the output path of a file: files of `docs` are at the root of the book, others in `outside`.
pub(super) fn outside(source: &str) -> String {
    let docs = source.strip_prefix(DOCS).and_then(|rest| rest.strip_prefix('/'));
    docs.map_or_else(|| format!("outside/{source}"), str::to_owned)
}

/// Resolves `target` relative to the file `from`; `None` if the result is outside the repository.
pub(super) fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_page_is_the_index() {
        let summary =
            Summary::parse("# Book\n\n- [A](a.md)\n- [B](b/c.md)\n\n## Two\n\n- [R](../README.md)\n")
                .unwrap();
        let entries: Vec<(&str, &str)> =
            summary.entries().map(|entry| (entry.source.as_str(), entry.target.as_str())).collect();
        assert_eq!(
            entries,
            [("docs/a.md", "index.html"), ("docs/b/c.md", "b/c.html"), ("README.md", "outside/README.html")]
        );
        assert_eq!(summary.parts[1].title, "Two");
        assert!(Summary::parse("# Nothing\n").is_err());
        assert!(Summary::parse("- [out](../../x.md)\n").is_err());
    }
}
