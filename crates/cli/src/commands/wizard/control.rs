//! Prompt for one control of the wizard.

use serde_json::{Value as Json, json};
use stoker_api_types::wizard::{ControlView, OptionView, WizardView};

use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::remote::{cell, sanitize};
use crate::terminal;

/// Maximum number of prompts per control, so that piped input cannot loop forever.
const PROMPTS_MAX: usize = 10;

/// A control with its state after the answers given up to now.
pub(super) struct Control {
    pub(super) pane: String,
    /// Display name of the pane, and whether a choice in it is required.
    pub(super) heading: String,
    pub(super) name: String,
    pub(super) label: String,
    description: Option<String>,
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
    description: Option<String>,
    /// Reason why the option cannot be selected.
    disabled_reason: Option<String>,
}

impl Choice {
    /// Returns the label, with the reason if the option cannot be selected.
    pub(super) fn title(&self) -> String {
        match &self.disabled_reason {
            Some(reason) => format!("{} ({})", self.label, unavailable(reason)),
            None => self.label.clone(),
        }
    }
}

fn unavailable(reason: &str) -> String {
    if reason.is_empty() { "not available".to_owned() } else { format!("not available: {reason}") }
}

impl Control {
    /// Combines the definition of a control with its evaluated state.
    pub(super) fn new(wizard: &WizardView, state: &ControlView) -> Self {
        let (pane, name) = (sanitize(&state.pane), sanitize(&state.control));
        let pane_view = wizard.pane(&state.pane);
        let definition = pane_view.control(&state.control);
        let text = |label: Option<&String>| label.map(|label| sanitize(label));
        let metadata = pane_view.metadata.as_ref();
        let heading = metadata.and_then(|metadata| text(metadata.label.as_ref()));
        let heading = heading.unwrap_or_else(|| pane.clone());
        let is_required = metadata.is_some_and(|metadata| metadata.required == Json::Bool(true));
        let heading = if is_required { format!("{heading} (required)") } else { heading };
        let label = text(definition.label.as_ref()).unwrap_or_else(|| name.clone());
        let messages = |messages: &[String]| messages.iter().map(|text| sanitize(text)).collect::<Vec<_>>();
        let choice = |option: &OptionView| {
            let mut own = definition.values.iter().filter(|value| value.data == option.data);
            let label = own.clone().find_map(|value| text(value.label.as_ref()));
            let description = own.find_map(|value| text(value.description.as_ref()));
            let reason = messages(&option.messages).join("; ");
            Choice {
                label: label.unwrap_or_else(|| cell(&option.data)),
                description,
                data: option.data.clone(),
                disabled_reason: option.disabled.then_some(reason),
            }
        };
        Self {
            heading,
            label,
            description: text(definition.description.as_ref()),
            is_hidden: state.hidden,
            is_disabled: state.disabled,
            value: state.value.clone(),
            messages: messages(&state.messages),
            is_secret: definition.r#type.as_deref() == Some("password"),
            choices: state.options.iter().filter(|option| !option.hidden).map(choice).collect(),
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
        unavailable(&self.messages.join("; "))
    }

    /// Returns the label, with the reason if the control is disabled.
    pub(super) fn title(&self) -> String {
        if self.is_disabled { format!("{} ({})", self.label, self.reason()) } else { self.label.clone() }
    }

    /// Prompts for a value; `None` selects the default.
    pub(super) fn ask(&self, printer: &mut Printer) -> Outcome<Option<Json>> {
        if let Some(description) = &self.description {
            printer.note(&format!("  {description}"));
        }
        for (idx, choice) in self.choices.iter().enumerate() {
            let description = choice.description.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
            printer.note(&format!("  {} {}{description}", idx + 1, choice.title()));
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
            Some(Choice { disabled_reason: Some(reason), .. }) => Err(unavailable(reason)),
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

    fn option(data: &str) -> OptionView {
        OptionView { data: json!(data), hidden: false, disabled: false, messages: Vec::new() }
    }

    fn state(control: &str, value: Json) -> ControlView {
        ControlView {
            pane: "Net".to_owned(),
            control: control.to_owned(),
            value,
            dropped: false,
            hidden: false,
            disabled: false,
            messages: Vec::new(),
            options: Vec::new(),
        }
    }

    fn control(state: &ControlView) -> Control {
        let wizard = json!({"Net": {"manager": {"type": "radio", "label": "Manager", "values": [
            {"data": "a", "label": "Alpha"}, {"data": "b", "label": "Beta"}]}}});
        Control::new(&serde_json::from_value(wizard).unwrap(), state)
    }

    #[test]
    fn options_are_selected_by_number_label_or_value() {
        let options = vec![
            option("a"),
            OptionView { disabled: true, messages: vec!["no Beta here".to_owned()], ..option("b") },
            OptionView { hidden: true, ..option("c") },
        ];
        let control = control(&ControlView { options, ..state("manager", json!("a")) });
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
        let checkbox = control(&state("x", json!(false)));
        assert_eq!((checkbox.parse("Yes"), checkbox.parse("n")), (Ok(json!(true)), Ok(json!(false))));
        assert!(checkbox.parse("maybe").is_err());
        let text = control(&ControlView { disabled: true, ..state("x", json!("")) });
        assert_eq!((text.parse("7"), text.reason().as_str()), (Ok(json!("7")), "not available"));
        assert!(parse_answer("x=1").is_err());
        assert_eq!(parse_answer("A.b=true").ok().map(|fields| fields.2), Some(json!(true)));
    }
}
