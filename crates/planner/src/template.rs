//! A field of a task with the places where something has to be computed.

use std::collections::BTreeMap;

use stoker_model::{Json, JsonMap};

use crate::compute::expressions::{ExpressionIdx, Expressions};

/// The key that makes a map an expression.
const COMPUTED: &str = "yaql_exp";
/// What stands under this key is left alone: braces mean something else there.
const VERBATIM: &str = "regex";

#[derive(Clone, Debug)]
pub(crate) enum Template {
    Fixed(Json),
    Computed(ExpressionIdx),
    List(Vec<Template>),
    Map(Vec<(String, Template)>),
}

/// What turns fields into templates.
pub(crate) struct Templates<'t> {
    pub(crate) expressions: &'t mut Expressions,
    pub(crate) placeholders: &'t BTreeMap<String, String>,
}

impl Templates<'_> {
    pub(crate) fn template(&mut self, value: &Json) -> Template {
        match value {
            Json::Object(map) => match map.get(COMPUTED) {
                Some(Json::String(text)) => Template::Computed(self.expressions.add(text)),
                _ => self.map(map),
            },
            Json::Array(items) => {
                let items: Vec<Template> = items.iter().map(|item| self.template(item)).collect();
                match items.iter().map(Template::fixed).collect::<Option<Vec<&Json>>>() {
                    Some(fixed) => Template::Fixed(Json::Array(fixed.into_iter().cloned().collect())),
                    None => Template::List(items),
                }
            }
            Json::String(text) => Template::Fixed(Json::from(self.replaced(text))),
            other => Template::Fixed(other.clone()),
        }
    }

    fn map(&mut self, map: &JsonMap) -> Template {
        let entries: Vec<(String, Template)> = map
            .iter()
            .map(|(key, value)| {
                let is_verbatim = key == VERBATIM;
                (key.clone(), if is_verbatim { Template::Fixed(value.clone()) } else { self.template(value) })
            })
            .collect();
        let fixed = entries.iter().map(|(key, value)| Some((key.clone(), value.fixed()?.clone())));
        match fixed.collect::<Option<JsonMap>>() {
            Some(fixed) => Template::Fixed(Json::Object(fixed)),
            None => Template::Map(entries),
        }
    }

    /// Replaces names that are known and leaves every other brace alone.
    fn replaced(&self, text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (before, from_open) = rest.split_at(open);
            result.push_str(before);
            let known = from_open.find('}').and_then(|close| {
                let value = self.placeholders.get(&from_open[1..close])?;
                Some((value, close))
            });
            if let Some((value, close)) = known {
                result.push_str(value);
                rest = &from_open[close + 1..];
            } else {
                result.push('{');
                rest = &from_open[1..];
            }
        }
        result.push_str(rest);
        result
    }
}

impl Template {
    pub(crate) fn fixed(&self) -> Option<&Json> {
        match self {
            Self::Fixed(value) => Some(value),
            _ => None,
        }
    }

    /// Every expression in it and where it stands.
    pub(crate) fn expressions(&self, field: &str) -> Vec<(String, ExpressionIdx)> {
        let mut found = Vec::new();
        self.collect(field.to_owned(), &mut found);
        found
    }

    fn collect(&self, path: String, found: &mut Vec<(String, ExpressionIdx)>) {
        match self {
            Self::Fixed(_) => {}
            Self::Computed(expression_idx) => found.push((path, *expression_idx)),
            Self::List(items) => {
                for (item_idx, item) in items.iter().enumerate() {
                    item.collect(format!("{path}[{item_idx}]"), found);
                }
            }
            Self::Map(entries) => {
                for (key, value) in entries {
                    value.collect(format!("{path}.{key}"), found);
                }
            }
        }
    }

    /// The field with results in place of expressions.
    pub(crate) fn render<E>(
        &self,
        result: &mut dyn FnMut(ExpressionIdx) -> Result<Json, E>,
    ) -> Result<Json, E> {
        Ok(match self {
            Self::Fixed(value) => value.clone(),
            Self::Computed(expression_idx) => result(*expression_idx)?,
            Self::List(items) => {
                Json::Array(items.iter().map(|item| item.render(result)).collect::<Result<_, _>>()?)
            }
            Self::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| Ok((key.clone(), value.render(result)?)));
                Json::Object(entries.collect::<Result<_, E>>()?)
            }
        })
    }
}
