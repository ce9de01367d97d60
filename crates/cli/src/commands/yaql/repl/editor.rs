//! Interactive line editor.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use stoker_diagnostics::{Diagnostic, Severity};
use stoker_model::ErrorChain;
use stoker_yaql::Value;

use super::brackets::is_incomplete;
use super::complete::{Scope, complete};
use super::state::{Next, State};
use crate::environment::state_folder;
use crate::exit::{Exit, Failure, Outcome};
use crate::printer::Printer;
use stoker_yaql::presentation::completion_names;

const PROMPT: &str = "yaql> ";

pub(super) fn run(state: &mut State, printer: &mut Printer) -> Outcome {
    let terminal_error =
        |error: ReadlineError| Failure::input(format!("cannot read from the terminal: {error}"));
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
    let mut editor: Editor<Assistant, DefaultHistory> =
        Editor::with_config(config).map_err(terminal_error)?;
    let history = state_folder().map(|folder| folder.join("yaql_history"));
    if let Some(path) = history.as_deref().filter(|path| path.exists()) {
        _ = editor.load_history(path);
    }
    let library = state.session.engine.library();
    let (functions, methods) = (completion_names(library, false), completion_names(library, true));
    let mut assistant = Assistant { functions, methods, data: Value::Null, vars: Vec::new() };
    printer.note("enter `:help` for help, Ctrl-D to exit");
    loop {
        assistant.data = state.data.clone();
        assistant.vars.clone_from(&state.vars);
        editor.set_helper(Some(assistant));
        let line = editor.readline(PROMPT);
        assistant = editor.helper_mut().map(std::mem::take).unwrap_or_default();
        match line {
            Ok(line) => match state.enter(line.trim(), printer) {
                Ok(Next::Continue) => {}
                Ok(Next::Quit) => break,
                Err(failure) if failure.exit == Exit::BrokenPipe || failure.exit == Exit::Output => {
                    return Err(failure);
                }
                Err(failure) => {
                    failure.diagnostics.iter().for_each(|diagnostic| printer.diagnostic(diagnostic));
                }
            },
            // Ctrl-C discards the line and continues the session.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(terminal_error(error)),
        }
    }
    if let Some(path) = history {
        save_history(&mut editor, &path, printer);
    }
    Ok(())
}

fn save_history(editor: &mut Editor<Assistant, DefaultHistory>, path: &Path, printer: &mut Printer) {
    let folder: PathBuf = path.parent().map(Path::to_owned).unwrap_or_default();
    let result = fs::create_dir_all(folder).and_then(|()| {
        editor.save_history(path).map_err(|error| io::Error::other(ErrorChain(&error).to_string()))
    });
    if let Err(error) = result {
        let message = format!("cannot save the history to `{}`: {error}", path.display());
        printer.diagnostic(&Diagnostic::plain(message).severity(Severity::Warning));
    }
}

/// Completion and validation callbacks of the editor.
#[derive(Default)]
struct Assistant {
    functions: Vec<String>,
    methods: Vec<String>,
    data: Value,
    vars: Vec<(String, Value)>,
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let Self { functions, methods, data, vars } = self;
        Ok(complete(line, cursor, &Scope { functions, methods, data, vars }))
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let unfinished = is_incomplete(context.input());
        Ok(if unfinished { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Helper for Assistant {}
impl Highlighter for Assistant {}
impl Hinter for Assistant {
    type Hint = String;
}
