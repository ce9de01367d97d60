//! Where the tasks of a graph stand in what was uploaded.

use std::collections::BTreeMap;

/// The lines of the last upload, so that what is found later can be told with its place in the author's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphSource {
    /// The name of the file, if the client told it.
    pub file: Option<String>,
    /// From 1, by task and by field under its canonical name; the empty name is the task itself.
    pub lines: BTreeMap<String, BTreeMap<String, u32>>,
}

impl GraphSource {
    /// The line of a field, as in `cross_depends[0].role`, or else of its task.
    pub fn line(&self, task: &str, path: &str) -> Option<u32> {
        let fields = self.lines.get(task)?;
        let field = path.split(['.', '[']).next().unwrap_or_default();
        fields.get(crate::canonical_field(field)).or_else(|| fields.get("")).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_without_a_line_is_where_its_task_is() {
        let fields = BTreeMap::from([(String::new(), 3), ("roles".to_owned(), 5)]);
        let source = GraphSource { file: None, lines: BTreeMap::from([("a".to_owned(), fields)]) };
        assert_eq!(source.line("a", "roles[0]"), Some(5));
        assert_eq!(source.line("a", "role"), Some(5));
        assert_eq!(source.line("a", "condition"), Some(3));
        assert_eq!(source.line("a", ""), Some(3));
        assert_eq!(source.line("b", "roles"), None);
    }
}
