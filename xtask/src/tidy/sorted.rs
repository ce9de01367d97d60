//! Lists between the lines `// sorted` and `// end sorted` (or `# sorted`) are sorted, which avoids merge conflicts at the
//! end of the list.

use super::problem::Problem;
use super::tree::{File, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let code = |file: &&File| file.has_extension(&["rs", "toml", "py", "ts", "tsx", "yaml", "yml", "sh"]);
    tree.files.iter().filter(code).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut list: Option<List> = None;
    for (line_idx, line) in file.text.lines().enumerate() {
        let line_number = line_idx + 1;
        let mut report = |line: usize, message: String, help: &str| {
            problems.push(Problem::error(&file.path, line, message, help));
        };
        match (marker(line), list.as_mut()) {
            (Some(Marker::Begin), None) => {
                list = Some(List { begin: line_number, indent: indent(line), entries: Vec::new() });
            }
            (Some(Marker::Begin), Some(open)) => {
                let message = format!("the sorted list of line {} is not closed", open.begin);
                report(line_number, message, "close it with `// end sorted`");
            }
            (Some(Marker::End), None) => {
                report(
                    line_number,
                    "`end sorted` without `sorted`".to_owned(),
                    "start the list with `// sorted`",
                );
            }
            (Some(Marker::End), Some(open)) => {
                for (line, message) in open.disorder() {
                    report(line, message, "sort the list by the bytes of its entries");
                }
                list = None;
            }
            (None, Some(open)) => open.add(line_number, line),
            (None, None) => {}
        }
    }
    if let Some(open) = list {
        let message = "the sorted list is not closed";
        problems.push(Problem::error(&file.path, open.begin, message, "close it with `// end sorted`"));
    }
    problems
}

enum Marker {
    Begin,
    End,
}

fn marker(line: &str) -> Option<Marker> {
    let line = line.trim();
    let text = line.strip_prefix("//").or_else(|| line.strip_prefix('#'))?;
    match text.trim() {
        "sorted" => Some(Marker::Begin),
        "end sorted" => Some(Marker::End),
        _ => None,
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

struct List {
    begin: usize,
    indent: usize,
    /// Line and text of each entry, without white space.
    entries: Vec<(usize, String)>,
}

impl List {
    /// Adds a line. Indented lines and closing brackets continue an entry; comments and attributes are
    /// ignored.
    fn add(&mut self, line_number: usize, line: &str) {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') || text.starts_with("//") {
            return;
        }
        let continues = indent(line) > self.indent || text.starts_with([')', ']', '}']);
        let text: String = text.split_whitespace().collect();
        match self.entries.last_mut() {
            Some((_, entry)) if continues => entry.push_str(&text),
            _ => self.entries.push((line_number, text)),
        }
    }

    fn disorder(&self) -> Vec<(usize, String)> {
        let key = |entry: &(usize, String)| entry.1.trim_end_matches([',', ';']).to_owned();
        let mut problems = Vec::new();
        for pair in self.entries.windows(2) {
            let (before, after) = (key(&pair[0]), key(&pair[1]));
            if after <= before {
                let problem = if after == before { "is a duplicate" } else { "is out of order" };
                problems
                    .push((pair[1].0, format!("`{after}` {problem} in a sorted list (after `{before}`)")));
            }
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(text: &str) -> Vec<(usize, String)> {
        let tree = Tree::of(&[("a.rs", text)]);
        check(&tree).into_iter().map(|problem| (problem.line, problem.message)).collect()
    }

    #[test]
    fn lines_outside_of_the_markers_are_ignored() {
        assert_eq!(check_text("z\n// sorted\na,\n// why\nb,\n// end sorted\na\n"), []);
    }

    #[test]
    fn entries_may_span_lines() {
        assert_eq!(check_text("// sorted\na {\n    z: 1,\n}\nb {\n    y: 1,\n}\n// end sorted\n"), []);
    }

    #[test]
    fn multi_line_entries_are_compared_as_one_line() {
        assert_eq!(check_text("// sorted\nA { x: 1 },\nA {\n    x: 2,\n},\n// end sorted\n"), []);
        assert_eq!(check_text("// sorted\nA { x: 3 },\nA {\n    x: 2,\n},\n// end sorted\n").len(), 1);
    }

    #[test]
    fn prefix_sorts_first() {
        assert_eq!(check_text("// sorted\n\"to\",\n\"toDict\",\n// end sorted\n"), []);
    }

    #[test]
    fn disorder_and_duplicates_are_reported() {
        let found = check_text("// sorted\nb,\na,\na,\n// end sorted\n");
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 4]);
        assert!(found[0].1.contains("out of order"));
        assert!(found[1].1.contains("duplicate"));
    }

    #[test]
    fn markers_come_in_pairs() {
        assert_eq!(check_text("// sorted\na\n").len(), 1);
        assert_eq!(check_text("// end sorted\n").len(), 1);
        assert_eq!(check_text("// sorted\n// sorted\n// end sorted\n").len(), 1);
    }
}
