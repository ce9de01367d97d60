//! What an attempt reports about its effect.

use crate::{Json, JsonMap};

/// Report of an attempt, beside its result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskReport {
    /// Summary provided by the task type.
    pub summary: JsonMap,
    /// Whether the attempt changed the host, or in noop mode would change it. `None` if the task type cannot tell.
    pub changed: Option<bool>,
    /// What changed, for task types that can tell.
    pub diff: Vec<HostDifference>,
}

/// Difference between the state of a host and its desired state, in one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostDifference {
    /// What differs, such as the path of a file or the name of a package.
    pub subject: String,
    /// Attribute of the subject, such as `mode`.
    pub attribute: String,
    pub change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Short values; `None` if the attribute is absent.
    Value { old: Option<String>, new: Option<String> },
    /// Unified diff of texts.
    Text(String),
}

impl TaskReport {
    /// Report that consists of a summary.
    pub fn of_summary(summary: JsonMap) -> Self {
        Self { summary, ..Self::default() }
    }

    /// Adds the fields to a JSON object. Fields without a value are omitted, except the summary.
    pub fn write_to(&self, object: &mut JsonMap) {
        object.insert("summary".to_owned(), self.summary.clone().into());
        if let Some(changed) = self.changed {
            object.insert("changed".to_owned(), changed.into());
        }
        if !self.diff.is_empty() {
            object.insert("diff".to_owned(), self.diff.iter().map(HostDifference::to_json).collect());
        }
    }

    /// Returns the size of the serialized form.
    pub fn n_bytes(&self) -> usize {
        let mut object = JsonMap::new();
        self.write_to(&mut object);
        Json::Object(object).to_string().len()
    }

    /// Reads the fields that [`TaskReport::write_to`] adds; `None` if they are invalid.
    pub fn read_from(object: &Json) -> Option<Self> {
        let summary = match object.get("summary") {
            None => JsonMap::new(),
            Some(summary) => summary.as_object()?.clone(),
        };
        let changed = match object.get("changed") {
            None | Some(Json::Null) => None,
            Some(changed) => Some(changed.as_bool()?),
        };
        let diff = match object.get("diff") {
            None => Vec::new(),
            Some(diff) => diff.as_array()?.iter().map(HostDifference::from_json).collect::<Option<_>>()?,
        };
        Some(Self { summary, changed, diff })
    }
}

impl HostDifference {
    /// Difference between two short values.
    pub fn value(
        subject: impl Into<String>,
        attribute: &str,
        old: Option<String>,
        new: Option<String>,
    ) -> Self {
        Self { subject: subject.into(), attribute: attribute.to_owned(), change: Change::Value { old, new } }
    }

    /// Difference between two texts, as a unified diff.
    pub fn text(subject: impl Into<String>, attribute: &str, diff: String) -> Self {
        Self { subject: subject.into(), attribute: attribute.to_owned(), change: Change::Text(diff) }
    }

    /// Applies a function to all texts, for example to redact secrets.
    pub fn map_texts(self, map: impl Fn(&str) -> String) -> Self {
        let change = match self.change {
            Change::Value { old, new } => {
                Change::Value { old: old.as_deref().map(&map), new: new.as_deref().map(&map) }
            }
            Change::Text(text) => Change::Text(map(&text)),
        };
        Self { subject: map(&self.subject), change, ..self }
    }

    /// Form in messages, stored events and responses.
    pub fn to_json(&self) -> Json {
        let mut json = JsonMap::new();
        json.insert("subject".to_owned(), self.subject.clone().into());
        json.insert("attribute".to_owned(), self.attribute.clone().into());
        match &self.change {
            Change::Value { old, new } => {
                json.insert("old".to_owned(), old.clone().into());
                json.insert("new".to_owned(), new.clone().into());
            }
            Change::Text(text) => {
                json.insert("text".to_owned(), text.clone().into());
            }
        }
        Json::Object(json)
    }

    /// Reads the form of [`HostDifference::to_json`].
    pub fn from_json(json: &Json) -> Option<Self> {
        let text = |name: &str| json.get(name).and_then(Json::as_str).map(str::to_owned);
        let change = match text("text") {
            Some(text) => Change::Text(text),
            None => Change::Value { old: text("old"), new: text("new") },
        };
        Some(Self { subject: text("subject")?, attribute: text("attribute")?, change })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_survive_a_round_trip() {
        for difference in [
            HostDifference::value("/etc/a", "mode", None, Some("0644".to_owned())),
            HostDifference::text("/etc/a", "content", "-a\n+b\n".to_owned()),
        ] {
            assert_eq!(HostDifference::from_json(&difference.to_json()), Some(difference));
        }
        assert_eq!(HostDifference::from_json(&Json::from(1)), None);
    }

    #[test]
    fn reports_survive_a_round_trip() {
        let difference = HostDifference::value("nginx", "version", Some("1".to_owned()), None);
        for report in [
            TaskReport::default(),
            TaskReport { changed: Some(false), ..TaskReport::default() },
            TaskReport { changed: Some(true), diff: vec![difference], ..TaskReport::default() },
        ] {
            let mut object = JsonMap::new();
            report.write_to(&mut object);
            assert_eq!(TaskReport::read_from(&Json::Object(object)), Some(report));
        }
        assert_eq!(TaskReport::read_from(&Json::Object(JsonMap::new())), Some(TaskReport::default()));
    }
}
