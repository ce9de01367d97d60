//! Lines that somebody edits at a terminal.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use stoker_yaql::Value;

use super::brackets::is_unfinished;
use super::complete::{Known, complete};
use super::state::{Next, State};
use crate::diagnostic::{Diagnostic, Severity};
use crate::environment::state_folder;
use crate::exit::{Exit, Failure, Outcome};
use crate::printer::Printer;
use stoker_yaql::people::names;

const PROMPT: &str = "yaql> ";

pub(super) fn run(state: &mut State, printer: &mut Printer) -> Outcome {
    let terminal = |error: ReadlineError| Failure::input(format!("cannot read from the terminal: {error}"));
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
    let mut editor: Editor<Assistant, DefaultHistory> = Editor::with_config(config).map_err(terminal)?;
    let history = state_folder().map(|folder| folder.join("yaql_history"));
    if let Some(path) = history.as_deref().filter(|path| path.exists()) {
        _ = editor.load_history(path);
    }
    let library = state.session.engine.library();
    let (functions, methods) = (names(library, false), names(library, true));
    let mut assistant = Assistant { functions, methods, data: Value::Null, vars: Vec::new() };
    printer.note("`:help` lists commands, Ctrl-D leaves");
    loop {
        assistant.data = state.data.clone();
        assistant.vars.clone_from(&state.vars);
        editor.set_helper(Some(assistant));
        let line = editor.readline(PROMPT);
        assistant = editor.helper_mut().map(std::mem::take).unwrap_or_default();
        match line {
            Ok(line) => match state.enter(line.trim(), printer) {
                Ok(Next::Go) => {}
                Ok(Next::Quit) => break,
                Err(failure) if failure.exit == Exit::Unread || failure.exit == Exit::Output => {
                    return Err(failure);
                }
                Err(failure) => {
                    failure.diagnostics.iter().for_each(|diagnostic| printer.diagnostic(diagnostic));
                }
            },
            // Ctrl-C gives up the line, not the session.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(terminal(error)),
        }
    }
    if let Some(path) = history {
        keep_history(&mut editor, &path, printer);
    }
    Ok(())
}

fn keep_history(editor: &mut Editor<Assistant, DefaultHistory>, path: &Path, printer: &mut Printer) {
    let folder: PathBuf = path.parent().map(Path::to_owned).unwrap_or_default();
    let saved = fs::create_dir_all(folder)
        .and_then(|()| editor.save_history(path).map_err(|error| io::Error::other(error.to_string())));
    if let Err(error) = saved {
        let message = format!("the history could not be kept in `{}`: {error}", path.display());
        printer.diagnostic(&Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message) });
    }
}

/// What the editor asks while somebody types.
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
        Ok(complete(line, cursor, &Known { functions, methods, data, vars }))
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let unfinished = is_unfinished(context.input());
        Ok(if unfinished { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Helper for Assistant {}
impl Highlighter for Assistant {}
impl Hinter for Assistant {
    type Hint = String;
}
