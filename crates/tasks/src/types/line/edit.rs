//! Edits of texts, line by line.

use regex::Regex;

#[derive(Clone, Debug)]
pub(super) enum Edit {
    /// The line must be in the text.
    Ensure { line: String, regexp: Option<Regex>, position: Position },
    /// No line may match; without an expression no line may be equal.
    Remove { line: Option<String>, regexp: Option<Regex> },
    /// The lines must be between the markers; `None`: there must be no markers.
    Block { markers: [String; 2], lines: Option<Vec<String>>, position: Position },
}

/// Where new lines are inserted. Without a matching line at the end.
#[derive(Clone, Debug)]
pub(super) enum Position {
    Start,
    End,
    /// After the last line that matches.
    After(Regex),
    /// Before the last line that matches.
    Before(Regex),
}

impl Position {
    fn of(&self, lines: &[&str]) -> usize {
        let last = |regex: &Regex| lines.iter().rposition(|line| regex.is_match(line));
        match self {
            Self::Start => 0,
            Self::End => lines.len(),
            Self::After(regex) => last(regex).map_or(lines.len(), |at| at + 1),
            Self::Before(regex) => last(regex).unwrap_or(lines.len()),
        }
    }
}

impl Edit {
    /// Returns the edited text. Editing it again changes nothing.
    pub(super) fn apply(&self, text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let edited = match self {
            Self::Ensure { line, regexp, position } => ensure(&lines, line, regexp.as_ref(), position),
            Self::Remove { line, regexp } => {
                let is_kept = |candidate: &&&str| match regexp {
                    Some(regexp) => !regexp.is_match(candidate),
                    None => Some(**candidate) != line.as_deref(),
                };
                lines.iter().filter(is_kept).copied().collect()
            }
            Self::Block { markers, lines: block, position } => {
                with_block(&lines, markers, block.as_deref(), position)
            }
        };
        if edited == lines {
            return text.to_owned();
        }
        edited.iter().flat_map(|line| [line, "\n"]).collect()
    }
}

fn ensure<'t>(lines: &[&'t str], line: &'t str, regexp: Option<&Regex>, position: &Position) -> Vec<&'t str> {
    // A line that the expression does not match is not found by it the next time.
    let is_found_by_text = regexp.is_none_or(|regexp| !regexp.is_match(line));
    let mut edited = lines.to_vec();
    if is_found_by_text && lines.contains(&line) {
        return edited;
    }
    match regexp.and_then(|regexp| lines.iter().rposition(|candidate| regexp.is_match(candidate))) {
        Some(at) => edited[at] = line,
        None => edited.insert(position.of(lines), line),
    }
    edited
}

fn with_block<'t>(
    lines: &[&'t str],
    markers: &'t [String; 2],
    block: Option<&'t [String]>,
    position: &Position,
) -> Vec<&'t str> {
    let [begin, end] = markers;
    let first = lines.iter().position(|line| *line == begin.as_str());
    let last = first.and_then(|first| {
        let length = lines[first..].iter().position(|line| *line == end.as_str())?;
        Some(first + length)
    });
    let marked = block.map(|block| {
        let inner = block.iter().map(String::as_str);
        [begin.as_str()].into_iter().chain(inner).chain([end.as_str()])
    });
    let (before, after) = match (first, last) {
        (Some(first), Some(last)) => (&lines[..first], &lines[last + 1..]),
        // Without an end marker only the begin marker is replaced: the end of the block is unknown.
        (Some(first), None) => (&lines[..first], &lines[first + 1..]),
        _ => lines.split_at(position.of(lines)),
    };
    before.iter().copied().chain(marked.into_iter().flatten()).chain(after.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ensure_line(line: &str, regexp: Option<&str>) -> Edit {
        ensure_at(Position::End, line, regexp)
    }

    fn ensure_at(position: Position, line: &str, regexp: Option<&str>) -> Edit {
        let regexp = regexp.map(|text| Regex::new(text).unwrap());
        Edit::Ensure { line: line.to_owned(), regexp, position }
    }

    fn after(regex: &str) -> Position {
        Position::After(Regex::new(regex).unwrap())
    }

    fn block(lines: Option<&[&str]>) -> Edit {
        block_at(Position::End, lines)
    }

    fn block_at(position: Position, lines: Option<&[&str]>) -> Edit {
        Edit::Block {
            markers: ["# BEGIN".to_owned(), "# END".to_owned()],
            lines: lines.map(|lines| lines.iter().map(|line| (*line).to_owned()).collect()),
            position,
        }
    }

    #[test]
    fn texts_are_edited() {
        let remove = |line: Option<&str>, regexp: Option<&str>| Edit::Remove {
            line: line.map(str::to_owned),
            regexp: regexp.map(|text| Regex::new(text).unwrap()),
        };
        let cases: &[(Edit, &str, &str)] = &[
            (ensure_line("b", None), "", "b\n"),
            (ensure_line("b", None), "a", "a\nb\n"),
            (ensure_line("b", None), "a\nb", "a\nb"),
            (ensure_line("x=2", Some("^x=")), "x=0\ny=1\nx=1\n", "x=0\ny=1\nx=2\n"),
            (ensure_line("x=2", Some("^z=")), "x=2\n", "x=2\n"),
            (ensure_line("x=2", Some("^z=")), "y=1\n", "y=1\nx=2\n"),
            (ensure_line("a", Some("^x=")), "x=0\nx=1\n", "x=0\na\n"),
            (ensure_line("a", Some("^x=")), "x=0\na\n", "x=0\na\n"),
            (remove(Some("a"), None), "a\nb\na\n", "b\n"),
            (remove(None, Some("^a")), "ab\nb\n", "b\n"),
            (block(Some(&["x"])), "a\n", "a\n# BEGIN\nx\n# END\n"),
            (block(Some(&["x"])), "a\n# BEGIN\ny\nz\n# END\nb\n", "a\n# BEGIN\nx\n# END\nb\n"),
            (block(Some(&["x"])), "# BEGIN\ny\n", "# BEGIN\nx\n# END\ny\n"),
            (block(None), "a\n# BEGIN\ny\n# END\nb\n", "a\nb\n"),
            (block(None), "a", "a"),
            (ensure_at(Position::Start, "b", None), "a\n", "b\na\n"),
            (ensure_at(Position::Start, "b", None), "a\nb\n", "a\nb\n"),
            (ensure_at(after("^a"), "b", None), "a\nab\nc\n", "a\nab\nb\nc\n"),
            (ensure_at(after("^z"), "b", None), "a\n", "a\nb\n"),
            (ensure_at(after("^a"), "x=2", Some("^x=")), "a\nc\nx=1\n", "a\nc\nx=2\n"),
            (ensure_at(Position::Before(Regex::new("^c").unwrap()), "b", None), "c\nc\n", "c\nb\nc\n"),
            (block_at(after("^a"), Some(&["x"])), "a\nc\n", "a\n# BEGIN\nx\n# END\nc\n"),
            (block_at(after("^a"), Some(&["x"])), "a\nc\n# BEGIN\ny\n# END\n", "a\nc\n# BEGIN\nx\n# END\n"),
            (block_at(Position::Start, None), "a\n", "a\n"),
        ];
        for (edit, text, expected) in cases {
            assert_eq!(edit.apply(text), *expected, "{edit:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn editing_twice_changes_nothing(
            text in "(x=[01]|a|b|# BEGIN|# END|\n){0,12}",
            line in "(x=[01]|a)",
            use_regexp in any::<bool>(),
            is_block in any::<bool>(),
            place in 0_u8..4,
        ) {
            let position = match place {
                0 => Position::Start,
                1 => Position::End,
                2 => after("^[ab]"),
                _ => Position::Before(Regex::new("^b").unwrap()),
            };
            let edit = if is_block { block_at(position, Some(&[&line])) } else {
                ensure_at(position, &line, use_regexp.then_some("^x="))
            };
            let once = edit.apply(&text);
            prop_assert_eq!(edit.apply(&once), once);
        }
    }
}
