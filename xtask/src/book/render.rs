//! Renders one page from Markdown.

use std::collections::{BTreeMap, BTreeSet};

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

use super::summary::{Entry, Summary, outside, resolve};

pub(super) struct Rendered {
    pub(super) body: String,
    pub(super) headings: BTreeSet<String>,
    /// Links to files of the repository.
    pub(super) links: Vec<Link>,
}

/// The target of a link, relative to the repository.
pub(super) struct Link {
    pub(super) path: String,
    pub(super) heading: Option<String>,
}

pub(super) fn render(text: &str, entry: &Entry, summary: &Summary) -> Rendered {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
    let mut events: Vec<Event<'_>> = Parser::new_ext(text, options).collect();
    let headings = name_headings(&mut events);
    let mut links = Vec::new();
    for event in &mut events {
        if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event {
            follow(dest_url, entry, summary, &mut links);
        }
    }
    let mut body = String::new();
    html::push_html(&mut body, events.into_iter());
    Rendered { body, headings, links }
}

/// Gives each heading its anchor.
fn name_headings(events: &mut [Event<'_>]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    for at in 0..events.len() {
        if !matches!(events[at], Event::Start(Tag::Heading { .. })) {
            continue;
        }
        let inside = events[at..].iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
        let text: String = inside
            .filter_map(|event| match event {
                Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
                _ => None,
            })
            .collect();
        let slug = slug(&text);
        let n_before = used.entry(slug.clone()).or_default();
        let name = if *n_before == 0 { slug } else { format!("{slug}-{n_before}") };
        *n_before += 1;
        if let Event::Start(Tag::Heading { id, .. }) = &mut events[at] {
            *id = Some(CowStr::from(name.clone()));
        }
        names.insert(name);
    }
    names
}

/// Builds an anchor like the common Git hosting sites: lower case, blanks to dashes, other characters dropped.
fn slug(text: &str) -> String {
    let chars = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    chars.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Rewrites a link within the repository to one within the book.
fn follow(url: &mut CowStr<'_>, entry: &Entry, summary: &Summary, links: &mut Vec<Link>) {
    let has_scheme =
        url.split_once(':').is_some_and(|(scheme, _)| scheme.chars().all(|c| c.is_ascii_alphabetic()));
    if has_scheme || url.is_empty() {
        return;
    }
    let (path, heading) = match url.split_once('#') {
        Some((path, heading)) => (path, Some(heading.to_owned())),
        None => (url.as_ref(), None),
    };
    let path = if path.is_empty() { Some(entry.source.clone()) } else { resolve(&entry.source, path) };
    // A path outside the repository is reported as a missing file.
    let path = path.unwrap_or_else(|| url.to_string());
    let target = summary.find(&path).map_or_else(|| outside(&path), |entry| entry.target.clone());
    let fragment = heading.as_ref().map(|heading| format!("#{heading}")).unwrap_or_default();
    *url = CowStr::from(format!("{}{target}{fragment}", up(&entry.target)));
    links.push(Link { path, heading });
}

/// Returns the relative path from a page to the root of the book.
pub(super) fn up(target: &str) -> String {
    "../".repeat(target.matches('/').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_unique_anchors() {
        for (text, name) in [
            ("A new `stoker` command", "a-new-stoker-command"),
            ("What, why?", "what-why"),
            ("x_y 2.0", "x_y-20"),
        ] {
            let mut events: Vec<Event<'_>> = Vec::new();
            let source = format!("## {text}\n\n## {text}\n");
            events.extend(Parser::new(&source));
            let names = name_headings(&mut events);
            assert!(names.contains(name) && names.contains(&format!("{name}-1")), "{names:?}");
        }
    }
}
