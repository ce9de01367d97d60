//! Source locations of the tasks of a graph in the uploaded file.

use std::collections::BTreeMap;

/// Line numbers of the last upload, so that later findings can refer to the author's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphSource {
    /// The file name, if the client sent it.
    pub file: Option<String>,
    /// Line numbers from 1, by task and canonical field name; the empty name is the task itself.
    pub lines: BTreeMap<String, BTreeMap<String, u32>>,
}

impl GraphSource {
    /// Returns the line of a field such as `cross_depends[0].role`, otherwise the line of its task.
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
    fn line_of_field_falls_back_to_its_task() {
        let fields = BTreeMap::from([(String::new(), 3), ("roles".to_owned(), 5)]);
        let source = GraphSource { file: None, lines: BTreeMap::from([("a".to_owned(), fields)]) };
        assert_eq!(source.line("a", "roles[0]"), Some(5));
        assert_eq!(source.line("a", "role"), Some(5));
        assert_eq!(source.line("a", "condition"), Some(3));
        assert_eq!(source.line("a", ""), Some(3));
        assert_eq!(source.line("b", "roles"), None);
    }
}
