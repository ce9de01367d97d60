//! Restrictions: conditions under which a control is disabled or hidden, with a message.

use stoker_conditions::{Condition, ConditionError, Dialect, Models};
use stoker_model::{Json, JsonMap};

/// Effect of a restriction on a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestrictionAction {
    Disable,
    /// The control and its nested settings are hidden.
    Hide,
    /// The control stays enabled; only the message is displayed.
    None,
}

impl RestrictionAction {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Disable => "disable",
            Self::Hide => "hide",
            Self::None => "none",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Disable, Self::Hide, Self::None].into_iter().find(|action| action.as_str() == text)
    }
}

/// Parsed restriction, independent of its notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restriction {
    pub condition: String,
    pub message: Option<String>,
    pub action: RestrictionAction,
    /// Missing keys in the condition are errors.
    pub is_strict: bool,
}

impl Restriction {
    /// Parses `"condition"`, `{condition: message}` or a full map; `None` for other values.
    pub fn parse(json: &Json) -> Option<Self> {
        let plain = |condition: &str, message: Option<&str>| Self {
            condition: condition.to_owned(),
            message: message.map(str::to_owned),
            action: RestrictionAction::Disable,
            is_strict: true,
        };
        match json {
            Json::String(condition) => Some(plain(condition, None)),
            Json::Object(map) => match map.get("condition") {
                Some(condition) => Self::read_full(map, condition.as_str()?),
                None if map.len() == 1 => {
                    let (condition, message) = map.iter().next()?;
                    Some(plain(condition, Some(message.as_str()?)))
                }
                None => None,
            },
            _ => None,
        }
    }

    fn read_full(map: &JsonMap, condition: &str) -> Option<Self> {
        let action = map
            .get("action")
            .map_or(Some(RestrictionAction::Disable), |action| RestrictionAction::parse(action.as_str()?));
        Some(Self {
            condition: condition.to_owned(),
            message: map.get("message").and_then(Json::as_str).map(str::to_owned),
            action: action?,
            is_strict: map.get("strict").and_then(Json::as_bool).unwrap_or(true),
        })
    }

    /// Reports whether the condition is a placeholder, which has no effect.
    pub fn is_placeholder(&self) -> bool {
        is_placeholder(&self.condition)
    }

    /// Evaluates the condition.
    pub fn applies(&self, models: &Models<'_, '_>) -> Result<bool, ConditionError> {
        let dialect = Dialect::Restriction { strict: self.is_strict, default_model: Some("wizard") };
        Condition::parse_as(&self.condition, dialect)?.is_true(models)
    }

    /// Renders the restriction in full notation.
    pub fn to_json(&self) -> Json {
        let mut map = JsonMap::new();
        map.insert("condition".to_owned(), Json::from(&*self.condition));
        map.extend(self.message.as_deref().map(|message| ("message".to_owned(), Json::from(message))));
        map.insert("action".to_owned(), Json::from(self.action.as_str()));
        if !self.is_strict {
            map.insert("strict".to_owned(), Json::Bool(false));
        }
        Json::Object(map)
    }
}

/// Reports whether a condition is a single word that refers to no model, such as `some_restriction` in the examples of Fuel's
/// documentation.
pub(crate) fn is_placeholder(condition: &str) -> bool {
    let word = condition.trim();
    let is_word = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_name = word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    is_word && is_name && !matches!(word, "true" | "false" | "null" | "and" | "or" | "not" | "in")
}

/// Combined effect of all restrictions of a control.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestrictionEffect {
    pub is_hidden: bool,
    pub is_disabled: bool,
    /// Non-empty messages of the restrictions that apply.
    pub messages: Vec<String>,
}

impl RestrictionEffect {
    /// Evaluates a list of restrictions. Also returns the errors of those that cannot be evaluated; they have
    /// no effect. Neither have placeholders, of which the check of a release or package warns.
    pub fn evaluate(json: Option<&Json>, models: &Models<'_, '_>) -> (Self, Vec<String>) {
        let (mut effect, mut errors) = (Self::default(), Vec::new());
        let json = json.and_then(Json::as_array).into_iter().flatten();
        let restrictions = json.filter_map(Restriction::parse);
        for restriction in restrictions.filter(|restriction| !restriction.is_placeholder()) {
            match restriction.applies(models) {
                Ok(false) => continue,
                Ok(true) => {}
                Err(error) => {
                    errors.push(format!("`{}`: {error}", restriction.condition));
                    continue;
                }
            }
            effect.messages.extend(restriction.message.filter(|message| !message.is_empty()));
            match restriction.action {
                RestrictionAction::Hide => effect.is_hidden = true,
                RestrictionAction::Disable => effect.is_disabled = true,
                RestrictionAction::None => {}
            }
        }
        (effect, errors)
    }

    /// Returns the strongest action.
    pub fn action(&self) -> Option<RestrictionAction> {
        let disabled = self.is_disabled.then_some(RestrictionAction::Disable);
        if self.is_hidden { Some(RestrictionAction::Hide) } else { disabled }
    }

    /// Combines two effects.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.is_hidden |= other.is_hidden;
        self.is_disabled |= other.is_disabled;
        self.messages.extend(other.messages);
        self
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_notations_are_parsed() {
        let read = |json: Json| Restriction::parse(&json).map(|restriction| restriction.to_json());
        assert_eq!(read(json!("a:b")), Some(json!({"condition": "a:b", "action": "disable"})));
        assert_eq!(
            read(json!({"a:b": "why"})),
            Some(json!({"condition": "a:b", "message": "why", "action": "disable"}))
        );
        let full = json!({"condition": "a:b", "message": "why", "action": "hide", "strict": false});
        assert_eq!(read(full.clone()), Some(full));
        assert_eq!(read(json!({"condition": "a:b"})), Some(json!({"condition": "a:b", "action": "disable"})));
        for invalid in
            [json!(5), json!({}), json!({"a": 1}), json!({"a": "b", "c": "d"}), json!({"condition": 1})]
        {
            assert_eq!(read(invalid.clone()), None, "{invalid}");
        }
        assert_eq!(read(json!({"condition": "a:b", "action": "enable"})), None);
    }

    #[test]
    fn placeholders_have_no_effect() {
        let models = |_: &str| None;
        let evaluate = |json: &Json| RestrictionEffect::evaluate(Some(json), &models);
        let placeholders = json!(["some_restriction", {"some_restriction": "why"}, {"condition": " x1 "}]);
        assert_eq!(evaluate(&placeholders), (RestrictionEffect::default(), vec![]));
        let (effect, errors) = evaluate(&json!(["true", "Compute.kvm", "a:b", "not x", "1x", ""]));
        assert!(effect.is_disabled);
        assert_eq!(errors.len(), 5, "{errors:?}");
    }

    #[test]
    fn strictness_is_set_per_restriction() {
        let model = json!({});
        let lookup = |_: &str| Some(&model);
        let strict = Restriction::parse(&json!("settings:a.b")).unwrap();
        assert!(strict.applies(&lookup).is_err());
        let lenient =
            Restriction::parse(&json!({"condition": "settings:a.b == null", "strict": false})).unwrap();
        assert_eq!(lenient.applies(&lookup), Ok(true));
    }
}
