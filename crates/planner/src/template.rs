//! A task field with its embedded expressions.

use std::collections::BTreeMap;

use stoker_model::{Json, JsonMap};

use crate::compute::expressions::{ExpressionIdx, Expressions};

/// A map with this key is an expression.
const COMPUTED: &str = "yaql_exp";
/// Values under this key are copied verbatim: braces in regular expressions are not placeholders.
const VERBATIM: &str = "regex";

#[derive(Clone, Debug)]
pub(crate) enum Template {
    Fixed(Json),
    Computed(ExpressionIdx),
    List(Vec<Template>),
    Map(Vec<(String, Template)>),
}

/// Parses fields into templates.
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
            Json::String(text) => Template::Fixed(Json::from(self.replace_placeholders(text))),
            other => Template::Fixed(other.clone()),
        }
    }

    /// A field that is one expression.
    pub(crate) fn computed(&mut self, text: &str) -> Template {
        Template::Computed(self.expressions.add(text))
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

    /// Replaces known placeholders and leaves other braces alone.
    fn replace_placeholders(&self, text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (before, from_open) = rest.split_at(open);
            result.push_str(before);
            let placeholder = from_open.find('}').and_then(|close| {
                let value = self.placeholders.get(&from_open[1..close])?;
                Some((value, close))
            });
            if let Some((value, close)) = placeholder {
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

    /// All expressions in the field, with their paths.
    pub(crate) fn expressions(&self, field: &str) -> Vec<(String, ExpressionIdx)> {
        let mut expressions = Vec::new();
        self.collect(field.to_owned(), &mut expressions);
        expressions
    }

    fn collect(&self, path: String, expressions: &mut Vec<(String, ExpressionIdx)>) {
        match self {
            Self::Fixed(_) => {}
            Self::Computed(expression_idx) => expressions.push((path, *expression_idx)),
            Self::List(items) => {
                for (item_idx, item) in items.iter().enumerate() {
                    item.collect(format!("{path}[{item_idx}]"), expressions);
                }
            }
            Self::Map(entries) => {
                for (key, value) in entries {
                    value.collect(format!("{path}.{key}"), expressions);
                }
            }
        }
    }

    /// The field with expressions replaced by their results.
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
