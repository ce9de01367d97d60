//! Relative links in Markdown files point to existing files and headings.

use super::problem::Problem;
use super::tree::{File, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files.iter().filter(|file| file.has_extension(&["md"])) {
        for (line, target) in links(&file.text) {
            if let Some(message) = broken(tree, file, &target) {
                problems.push(Problem::error(
                    &file.path,
                    line,
                    message,
                    "fix the link or restore its target",
                ));
            }
        }
    }
    problems
}

/// Returns the reason why the link is broken, if it is. Links with a scheme are not checked: that would need
/// the network.
fn broken(tree: &Tree, file: &File, target: &str) -> Option<String> {
    let has_scheme =
        target.split_once(':').is_some_and(|(scheme, _)| scheme.chars().all(|c| c.is_ascii_alphabetic()));
    if target.is_empty() || has_scheme {
        return None;
    }
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() { Some(file.path.clone()) } else { resolve(&file.path, path) };
    let Some(path) = path.filter(|path| path.is_empty() || tree.paths.contains(path)) else {
        return Some(format!("broken link to `{target}`"));
    };
    if heading.is_empty() || heading.starts_with('L') {
        return None;
    }
    let document = tree.file(&path)?;
    let is_missing =
        document.has_extension(&["md"]) && !headings(&document.text).iter().any(|slug| slug == heading);
    is_missing.then(|| format!("`{path}` has no heading `#{heading}`"))
}

/// Resolves `target` relative to the file `from`; `None` if the result is outside the repository.
fn resolve(from: &str, target: &str) -> Option<String> {
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

/// Returns the line and target of every link and image outside code.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (line, text) in prose(text) {
        for opening in ["](", "src=\"", "srcset=\"", "href=\""] {
            let closing = if opening == "](" { ')' } else { '"' };
            for (at, _) in text.match_indices(opening) {
                let rest = &text[at + opening.len()..];
                let target = rest.split(closing).next().unwrap_or_default();
                links.push((line, target.split_whitespace().next().unwrap_or_default().to_owned()));
            }
        }
        let definition = text.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        if let Some((_, target)) = definition {
            links.push((line, target.trim().to_owned()));
        }
    }
    links
}

/// Returns the lines outside code blocks, without code spans.
pub(super) fn prose(text: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut in_fence = false;
    for (line_idx, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence {
            lines.push((line_idx + 1, line.split('`').step_by(2).collect::<Vec<_>>().join(" ")));
        }
    }
    lines
}

/// Anchors of the headings, as the common renderers generate them.
fn headings(text: &str) -> Vec<String> {
    let mut in_fence = false;
    let mut slugs = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        }
        if !in_fence && line.starts_with('#') {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            slugs.push(
                title
                    .chars()
                    .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                    .map(|c| if c == ' ' { '-' } else { c })
                    .collect(),
            );
        }
    }
    slugs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<(usize, String)> {
        let tree = Tree::of(&[("docs/a.md", text), ("docs/b/c.md", "# One `two`, three\n"), ("x.svg", "")]);
        check(&tree).into_iter().map(|problem| (problem.line, problem.message)).collect()
    }

    #[test]
    fn valid_links_pass() {
        let text = "# Top\n[a](b/c.md) ![p](../x.svg) [f](b/) [h](b/c.md#one-two-three) [s](#top)\n\
                    [w](https://example.com/x) [m](mailto:a@example.com) `[code](none.md)`\n\
                    ```\n[fenced](none.md)\n```\n<img src=\"../x.svg\"> [root](..)\n[ref]: b/c.md\n";
        assert_eq!(messages(text), []);
    }

    #[test]
    fn broken_links_are_reported_with_their_line() {
        let text =
            "[a](none.md)\n\n<img src=\"none.svg\">\n[h](b/c.md#four)\n[ref]: none.md\n[out](../../x.md)\n";
        let messages = messages(text);
        assert_eq!(
            messages.iter().map(|(line, _)| *line).collect::<Vec<_>>(),
            [1, 3, 4, 5, 6],
            "{messages:#?}"
        );
    }
}
