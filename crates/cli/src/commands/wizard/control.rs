//! Prompt for one control of the wizard.

use serde_json::{Value as Json, json};

use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::remote::{cell, sanitize};
use crate::terminal;

/// Maximum number of prompts per control, so that piped input cannot loop forever.
const PROMPTS_MAX: usize = 10;

/// A control with its state after the answers so far.
pub(super) struct Control {
    pub(super) pane: String,
    /// Display name of the pane.
    pub(super) heading: String,
    pub(super) name: String,
    pub(super) label: String,
    pub(super) is_hidden: bool,
    pub(super) is_disabled: bool,
    value: Json,
    messages: Vec<String>,
    is_secret: bool,
    choices: Vec<Choice>,
}

pub(super) struct Choice {
    data: Json,
    pub(super) label: String,
    /// Why the option cannot be selected.
    disabled_reason: Option<String>,
}

impl Control {
    /// Combines the definition of a control with its evaluated state.
    pub(super) fn new(wizard: &Json, state: &Json) -> Self {
        let (pane, name) = (cell(&state["pane"]), cell(&state["control"]));
        let definition = &wizard[pane.as_str()][name.as_str()];
        let heading =
            wizard[pane.as_str()]["metadata"]["label"].as_str().map_or_else(|| pane.clone(), sanitize);
        let label = definition["label"].as_str().map_or_else(|| name.clone(), sanitize);
        let strings = |value: &Json| value.as_array().into_iter().flatten().map(cell).collect::<Vec<_>>();
        let choice = |option: &Json| {
            let values = definition["values"].as_array().into_iter().flatten();
            let label = values
                .filter(|value| value["data"] == option["data"])
                .find_map(|value| value["label"].as_str());
            let messages = strings(&option["messages"]).join("; ");
            let reason = if messages.is_empty() { "not available".to_owned() } else { messages };
            Choice {
                label: label.map_or_else(|| cell(&option["data"]), sanitize),
                data: option["data"].clone(),
                disabled_reason: (option["disabled"] == true).then_some(reason),
            }
        };
        let options = state["options"].as_array().into_iter().flatten();
        Self {
            heading,
            label,
            is_hidden: state["hidden"] == true,
            is_disabled: state["disabled"] == true,
            value: state["value"].clone(),
            messages: strings(&state["messages"]),
            is_secret: definition["type"] == "password",
            choices: options.filter(|option| option["hidden"] != true).map(choice).collect(),
            pane,
            name,
        }
    }

    pub(super) fn path(&self) -> String {
        format!("{}.{}", self.pane, self.name)
    }

    pub(super) fn options(&self) -> &[Choice] {
        &self.choices
    }

    pub(super) fn reason(&self) -> String {
        if self.messages.is_empty() { "not available".to_owned() } else { self.messages.join("; ") }
    }

    /// Prompts for a value; `None` selects the default.
    pub(super) fn ask(&self, printer: &mut Printer) -> Outcome<Option<Json>> {
        for (idx, choice) in self.choices.iter().enumerate() {
            let disabled_reason = choice
                .disabled_reason
                .as_ref()
                .map(|reason| format!(" (not available: {reason})"))
                .unwrap_or_default();
            printer.note(&format!("  {} {}{disabled_reason}", idx + 1, choice.label));
        }
        for _ in 0..PROMPTS_MAX {
            let question = format!("  {} [{}]:", self.label, self.default());
            let answer = if self.is_secret {
                terminal::ask_secret(&question)?
            } else {
                terminal::ask_line(&question)?
            };
            if answer.trim().is_empty() {
                return Ok(None);
            }
            match self.parse(answer.trim()) {
                Ok(value) => return Ok(Some(value)),
                Err(reason) => printer.note(&format!("  {reason}")),
            }
        }
        Err(Failure::input(format!("no valid answer for `{}`", self.path())))
    }

    fn default(&self) -> String {
        match &self.value {
            Json::Bool(true) => "Y/n".to_owned(),
            Json::Bool(false) => "y/N".to_owned(),
            _ if self.is_secret => String::new(),
            value => {
                let selected = self.choices.iter().find(|choice| choice.data == *value);
                selected.map_or_else(|| cell(value), |choice| choice.label.clone())
            }
        }
    }

    /// Parses an answer: yes or no, the number, label or value of an option, or text.
    fn parse(&self, answer: &str) -> Result<Json, String> {
        if self.value.is_boolean() && self.choices.is_empty() {
            return match answer.to_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(json!(true)),
                "n" | "no" | "false" => Ok(json!(false)),
                _ => Err("enter yes or no".to_owned()),
            };
        }
        if self.choices.is_empty() {
            return Ok(json!(answer));
        }
        let by_number =
            answer.parse::<usize>().ok().and_then(|number| self.choices.get(number.checked_sub(1)?));
        let matches_answer =
            |choice: &&Choice| choice.label.eq_ignore_ascii_case(answer) || cell(&choice.data) == answer;
        let selected = self.choices.iter().find(matches_answer).or(by_number);
        match selected {
            Some(Choice { disabled_reason: Some(reason), .. }) => Err(format!("not available: {reason}")),
            Some(choice) => Ok(choice.data.clone()),
            None => Err(format!("enter a number from 1 to {}", self.choices.len())),
        }
    }
}

/// Parses `Network.manager=gridnet`; a value that is not JSON is a string.
pub(super) fn parse_answer(text: &str) -> Outcome<(&str, &str, Json)> {
    let fields = text.split_once('=').and_then(|(path, value)| Some((path.split_once('.')?, value)));
    let Some(((pane, control), value)) = fields else {
        let help = "use `PANE.CONTROL=VALUE`, such as `Network.manager=vlan`";
        return Err(Failure::usage(format!("invalid answer `{text}`"), help));
    };
    Ok((pane, control, serde_json::from_str(value).unwrap_or_else(|_| json!(value))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(state: &Json) -> Control {
        let wizard = json!({"Net": {"manager": {"type": "radio", "label": "Manager", "values": [
            {"data": "a", "label": "Alpha"}, {"data": "b", "label": "Beta"}]}}});
        Control::new(&wizard, state)
    }

    #[test]
    fn options_are_selected_by_number_label_or_value() {
        let control = control(&json!({"pane": "Net", "control": "manager", "value": "a", "options": [
            {"data": "a"}, {"data": "b", "disabled": true, "messages": ["no Beta here"]}, {"data": "c", "hidden": true}]}));
        assert_eq!((control.options().len(), control.default().as_str()), (2, "Alpha"));
        for answer in ["1", "a", "alpha"] {
            assert_eq!(control.parse(answer), Ok(json!("a")), "{answer}");
        }
        assert_eq!(control.parse("2"), Err("not available: no Beta here".to_owned()));
        for answer in ["0", "3", "c", "x"] {
            assert!(control.parse(answer).is_err(), "{answer}");
        }
    }

    #[test]
    fn checkboxes_accept_yes_or_no_and_other_controls_text() {
        let checkbox = control(&json!({"pane": "Net", "control": "x", "value": false}));
        assert_eq!((checkbox.parse("Yes"), checkbox.parse("n")), (Ok(json!(true)), Ok(json!(false))));
        assert!(checkbox.parse("maybe").is_err());
        let text = control(&json!({"pane": "Net", "control": "x", "value": "", "disabled": true}));
        assert_eq!((text.parse("7"), text.reason().as_str()), (Ok(json!("7")), "not available"));
        assert!(parse_answer("x=1").is_err());
        assert_eq!(parse_answer("A.b=true").ok().map(|fields| fields.2), Some(json!(true)));
    }
}
