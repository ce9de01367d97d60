//! State of a REPL session: data and variables.

use std::path::Path;

use stoker_diagnostics::Diagnostic;
use stoker_yaql::Value;
use stoker_yaql::syntax::VarName;

use super::super::evaluate::print_explanation;
use super::super::explain::Explanation;
use super::super::functions::pages;
use super::super::session::Session;
use super::command::{self, Command};
use crate::exit::{Exit, Failure, Outcome};
use crate::input::{as_input, read_data};
use crate::output::{Format, to_text};
use crate::printer::Printer;
use stoker_yaql::presentation;
use stoker_yaql::presentation::Trace;

pub(super) struct State {
    pub(super) session: Session,
    pub(super) data: Value,
    /// Variables by name without `$`, in the order they were set.
    pub(super) vars: Vec<(String, Value)>,
}

pub(super) enum Next {
    Continue,
    Quit,
}

impl State {
    pub(super) fn new(session: Session) -> Self {
        Self { session, data: Value::Null, vars: Vec::new() }
    }

    pub(super) fn load(&mut self, path: &Path, printer: &mut Printer) -> Outcome {
        let data = read_data(path)?;
        data.warnings.iter().for_each(|warning| printer.diagnostic(warning));
        self.data = data.value;
        Ok(())
    }

    /// Evaluates an expression or runs a command.
    pub(super) fn enter(&mut self, text: &str, printer: &mut Printer) -> Outcome<Next> {
        if text.is_empty() {
            return Ok(Next::Continue);
        }
        if !text.starts_with(':') {
            let value = self.evaluate(text)?;
            let output = to_text(&value, Format::Json, &self.session.options);
            printer.data(&output.map_err(|error| self.session.failure(&error, text))?)?;
            self.set("_", &value);
            return Ok(Next::Continue);
        }
        let command = command::parse(text)?;
        match command {
            Command::Quit => return Ok(Next::Quit),
            Command::Help => printer.data(&command::help())?,
            Command::Data(path) => self.load(&path, printer)?,
            Command::Set(name, expression) => {
                let value = self.evaluate(&expression)?;
                self.set(&name, &value);
            }
            Command::Explain(source) => self.explain(&source, printer)?,
            Command::Reads(source) => self.reads(&source, printer)?,
            Command::Doc(name) => self.doc(&name, printer)?,
        }
        Ok(Next::Continue)
    }

    fn evaluate(&self, source: &str) -> Outcome<Value> {
        let expression = self.session.compile(source)?;
        let result = self.session.evaluate(&expression, self.data.clone(), self.bindings(), None);
        result.map_err(|error| self.session.failure(&error, source))
    }

    fn bindings(&self) -> Vec<(VarName, Value)> {
        self.vars.iter().map(|(name, value)| (VarName::new(name), value.clone())).collect()
    }

    fn set(&mut self, name: &str, value: &Value) {
        self.vars.retain(|(var, _)| var != name);
        self.vars.push((name.to_owned(), as_input(value)));
    }

    fn explain(&self, source: &str, printer: &mut Printer) -> Outcome {
        let expression = self.session.compile(source)?;
        let mut trace = Trace::default();
        let result = self.session.evaluate(&expression, self.data.clone(), self.bindings(), Some(&mut trace));
        let explanation = Explanation::new(&expression, &result, &trace, &self.session);
        print_explanation(&explanation, None, &self.session, printer)?;
        result.map(|_| ()).map_err(|error| self.session.failure(&error, source))
    }

    fn reads(&self, source: &str, printer: &mut Printer) -> Outcome {
        let reads = self.session.compile(source)?.reads();
        for path in &reads.paths {
            printer.data(&path.to_string())?;
        }
        Ok(())
    }

    fn doc(&self, name: &str, printer: &mut Printer) -> Outcome {
        let entries = presentation::entries(self.session.engine.library().functions());
        let functions = presentation::find(&entries, name);
        if functions.is_empty() {
            let help =
                presentation::suggest_title(&entries, name).map(|best| format!("did you mean `{best}`?"));
            let diagnostic = Diagnostic::plain(format!("unknown function `{name}`")).help_if(help);
            return Err(Failure::new(Exit::Failed, diagnostic));
        }
        Ok(printer.page(&pages(&functions))?)
    }
}
