//! One question of the wizard.

use serde_json::{Value as Json, json};

use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::remote::{cell, plain};
use crate::terminal;

/// Answers that make no sense are asked for again, so often.
const TRIES_MAX: usize = 10;

/// A control as it stands after the answers so far.
pub(super) struct Control {
    pub(super) pane: String,
    /// What the pane is called where people see it.
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
    /// Why it cannot be chosen.
    against: Option<String>,
}

impl Control {
    /// What the wizard says of it, and how it stands.
    pub(super) fn new(wizard: &Json, state: &Json) -> Self {
        let (pane, name) = (cell(&state["pane"]), cell(&state["control"]));
        let definition = &wizard[pane.as_str()][name.as_str()];
        let heading = wizard[pane.as_str()]["metadata"]["label"].as_str().map_or_else(|| pane.clone(), plain);
        let label = definition["label"].as_str().map_or_else(|| name.clone(), plain);
        let words = |value: &Json| value.as_array().into_iter().flatten().map(cell).collect::<Vec<_>>();
        let choice = |option: &Json| {
            let known = definition["values"].as_array().into_iter().flatten();
            let of = known
                .filter(|value| value["data"] == option["data"])
                .find_map(|value| value["label"].as_str());
            let messages = words(&option["messages"]).join("; ");
            let reason = if messages.is_empty() { "not possible".to_owned() } else { messages };
            Choice {
                label: of.map_or_else(|| cell(&option["data"]), plain),
                data: option["data"].clone(),
                against: (option["disabled"] == true).then_some(reason),
            }
        };
        let options = state["options"].as_array().into_iter().flatten();
        Self {
            heading,
            label,
            is_hidden: state["hidden"] == true,
            is_disabled: state["disabled"] == true,
            value: state["value"].clone(),
            messages: words(&state["messages"]),
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

    pub(super) fn why(&self) -> String {
        if self.messages.is_empty() { "not possible".to_owned() } else { self.messages.join("; ") }
    }

    /// The answer; nothing where the default is taken.
    pub(super) fn ask(&self, printer: &mut Printer) -> Outcome<Option<Json>> {
        for (idx, choice) in self.choices.iter().enumerate() {
            let against =
                choice.against.as_ref().map(|why| format!(" (not possible: {why})")).unwrap_or_default();
            printer.note(&format!("  {} {}{against}", idx + 1, choice.label));
        }
        for _ in 0..TRIES_MAX {
            let question = format!("  {} [{}]:", self.label, self.default());
            let answer =
                if self.is_secret { terminal::secret(&question)? } else { terminal::question(&question)? };
            if answer.trim().is_empty() {
                return Ok(None);
            }
            match self.read(answer.trim()) {
                Ok(value) => return Ok(Some(value)),
                Err(why) => printer.note(&format!("  {why}")),
            }
        }
        Err(Failure::input(format!("there is no answer to `{}`", self.path())))
    }

    fn default(&self) -> String {
        match &self.value {
            Json::Bool(true) => "Y/n".to_owned(),
            Json::Bool(false) => "y/N".to_owned(),
            _ if self.is_secret => String::new(),
            value => {
                let chosen = self.choices.iter().find(|choice| choice.data == *value);
                chosen.map_or_else(|| cell(value), |choice| choice.label.clone())
            }
        }
    }

    /// What was typed: a yes or a no, a number or a name of an option, or text.
    fn read(&self, answer: &str) -> Result<Json, String> {
        if self.value.is_boolean() && self.choices.is_empty() {
            return match answer.to_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(json!(true)),
                "n" | "no" | "false" => Ok(json!(false)),
                _ => Err("answer with yes or no".to_owned()),
            };
        }
        if self.choices.is_empty() {
            return Ok(json!(answer));
        }
        let by_number =
            answer.parse::<usize>().ok().and_then(|number| self.choices.get(number.checked_sub(1)?));
        let is_meant =
            |choice: &&Choice| choice.label.eq_ignore_ascii_case(answer) || cell(&choice.data) == answer;
        let chosen = self.choices.iter().find(is_meant).or(by_number);
        match chosen {
            Some(Choice { against: Some(why), .. }) => Err(format!("that is not possible: {why}")),
            Some(choice) => Ok(choice.data.clone()),
            None => Err(format!("answer with a number from 1 to {}", self.choices.len())),
        }
    }
}

/// `Network.manager=gridnet` in its parts; what is no JSON is text.
pub(super) fn answer(text: &str) -> Outcome<(&str, &str, Json)> {
    let parts = text.split_once('=').and_then(|(path, value)| Some((path.split_once('.')?, value)));
    let Some(((pane, control), value)) = parts else {
        let help = "write `PANE.CONTROL=VALUE`, as in `Network.manager=vlan`";
        return Err(Failure::usage(format!("`{text}` says not what is answered"), help));
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
    fn options_are_chosen_by_number_label_or_value() {
        let control = control(&json!({"pane": "Net", "control": "manager", "value": "a", "options": [
            {"data": "a"}, {"data": "b", "disabled": true, "messages": ["no Beta here"]}, {"data": "c", "hidden": true}]}));
        assert_eq!((control.options().len(), control.default().as_str()), (2, "Alpha"));
        for answer in ["1", "a", "alpha"] {
            assert_eq!(control.read(answer), Ok(json!("a")), "{answer}");
        }
        assert_eq!(control.read("2"), Err("that is not possible: no Beta here".to_owned()));
        for answer in ["0", "3", "c", "x"] {
            assert!(control.read(answer).is_err(), "{answer}");
        }
    }

    #[test]
    fn boxes_are_yes_or_no_and_the_rest_is_text() {
        let checkbox = control(&json!({"pane": "Net", "control": "x", "value": false}));
        assert_eq!((checkbox.read("Yes"), checkbox.read("n")), (Ok(json!(true)), Ok(json!(false))));
        assert!(checkbox.read("maybe").is_err());
        let text = control(&json!({"pane": "Net", "control": "x", "value": "", "disabled": true}));
        assert_eq!((text.read("7"), text.why().as_str()), (Ok(json!("7")), "not possible"));
        assert!(answer("x=1").is_err());
        assert_eq!(answer("A.b=true").ok().map(|parts| parts.2), Some(json!(true)));
    }
}
