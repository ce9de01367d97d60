//! Evaluation environment of commands: engine, dialect, options, limits and host.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use stoker_diagnostics::{Diagnostic, Span as SourceSpan};
use stoker_yaql::eval::Observer;
use stoker_yaql::stdlib::Legacy;
use stoker_yaql::syntax::{Node, NodeId, VarName};
use stoker_yaql::{Engine, Error, ErrorClass, Expression, Input, Limits, Options, Span, Value};

use crate::exit::{Exit, Failure, Outcome};
use crate::host::SystemHost;
use crate::input::{Helpers, read_helpers};
use crate::printer::Printer;
use stoker_yaql::presentation::collapse_whitespace;
use stoker_yaql::presentation::describe_error;

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Helper file, or directory with helper files, that define functions for expressions
    #[arg(long, value_name = "DIR")]
    helpers: Option<PathBuf>,

    /// Maximum number of elements that a collection may yield; negative for no limit
    #[arg(long, value_name = "N", default_value_t = 10_000, allow_negative_numbers = true)]
    #[arg(help_heading = "Dialect and limits")]
    limit_iterators: i64,

    /// Maximum size of a value, in bytes; 0 or negative for no limit
    #[arg(long, value_name = "BYTES", default_value_t = 100 * 1024 * 1024, allow_negative_numbers = true)]
    #[arg(help_heading = "Dialect and limits")]
    memory_quota: i64,

    /// YAQL 0.2 compatibility: `context` adds the functions of YAQL 0.2, `full` also its grammar
    #[arg(long, value_name = "LEVEL", hide_possible_values = true, help_heading = "Dialect and limits")]
    legacy: Option<LegacyArg>,

    /// Allow calls of functions stored in values, such as `$f(1)`
    #[arg(long, help_heading = "Dialect and limits")]
    delegates: bool,

    /// Evaluation timeout in seconds; 0 for no timeout
    #[arg(long, value_name = "SECONDS", default_value_t = 30, help_heading = "Dialect and limits")]
    timeout: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LegacyArg {
    Context,
    Full,
}

/// Reusable environment of evaluations.
pub(crate) struct Session {
    pub(crate) engine: Engine,
    pub(crate) options: Options,
    limits: Limits,
    host: SystemHost,
    helpers: Option<Helpers>,
}

impl Session {
    pub(crate) fn new(args: &Args, printer: &mut Printer) -> Outcome<Self> {
        let legacy = match args.legacy {
            None => Legacy::Off,
            Some(LegacyArg::Context) => Legacy::Context,
            Some(LegacyArg::Full) => Legacy::Full,
        };
        let options = Options {
            limit_iterators: args.limit_iterators,
            memory_quota: args.memory_quota,
            convert_tuples_to_lists: legacy != Legacy::Full,
            iterable_dicts: legacy == Legacy::Full,
            ..Options::default()
        };
        let limit = (args.timeout > 0).then(|| Duration::from_secs(args.timeout));
        let mut engine = Engine::with_dialect(args.delegates, legacy);
        let helpers = match &args.helpers {
            Some(path) => Some(read_helpers(path, engine.library())?),
            None => None,
        };
        if let Some(helpers) = &helpers {
            helpers.warnings.iter().for_each(|warning| printer.diagnostic(warning));
            engine = engine.with_library(helpers.library.clone());
        }
        Ok(Self { engine, options, limits: Limits::default(), host: SystemHost::new(limit), helpers })
    }

    pub(crate) fn compile(&self, source: &str) -> Outcome<Expression> {
        self.engine.compile(source).map_err(|error| self.failure(&error, source))
    }

    /// Evaluates with a restarted time limit.
    pub(crate) fn evaluate<'a>(
        &'a self,
        expression: &Expression,
        data: Value,
        vars: Vec<(VarName, Value)>,
        observer: Option<&'a mut dyn Observer>,
    ) -> stoker_yaql::Result<Value> {
        self.host.start();
        let (options, limits, host) = (&self.options, &self.limits, &self.host);
        expression.run(Input { data, vars, options, limits, host, observer })
    }

    /// Converts an evaluation error to a failure.
    pub(crate) fn failure(&self, error: &Error, source: &str) -> Failure {
        Failure::new(Exit::Failed, self.diagnostic(error, source))
    }

    fn diagnostic(&self, error: &Error, source: &str) -> Diagnostic {
        let message = describe_error(error.class, &error.message);
        let diagnostic = Diagnostic::error(error.class.name(), message).help_if(help(error));
        let Some(span) = error.span else { return diagnostic };
        let text = error.source.as_deref().unwrap_or(source);
        let span = self.focus(text, span);
        let helpers = self.helpers.as_ref().filter(|_| text != source);
        if let Some((located, name)) = helpers.and_then(|helpers| helpers.locate(text, span, &diagnostic)) {
            return located.note(format!("in helper `{name}`, called by `{}`", collapse_whitespace(source)));
        }
        let span = SourceSpan::in_text(text, span.start as usize..span.end as usize);
        diagnostic.at(span).in_source("expression", text)
    }

    /// Returns the name of the helper with this body.
    pub(crate) fn helper_name(&self, body: &str) -> Option<&str> {
        self.helpers.as_ref()?.name(body)
    }

    /// Narrows the span of an error in a chain of calls to the name of the failing method or key.
    fn focus(&self, text: &str, span: Span) -> Span {
        let Ok(expression) = self.engine.compile(text) else { return span };
        let tree = &expression.program().tree;
        let id = (0..tree.nodes.len() as NodeId).rev().find(|id| tree.span(*id) == span);
        match id.map(|id| tree.node(id)) {
            Some(Node::Member { key, .. }) => *key,
            Some(Node::Method { name, .. } | Node::Call { name, .. }) => *name,
            _ => span,
        }
    }
}

fn help(error: &Error) -> Option<String> {
    let hint = match error.class {
        ErrorClass::CollectionTooLarge => "raise the limit with `--limit-iterators`",
        ErrorClass::MemoryQuota => "raise the limit with `--memory-quota`",
        ErrorClass::Interrupted => "raise the limit with `--timeout`",
        _ => return error.help.clone(),
    };
    error.help.clone().or_else(|| Some(hint.to_owned()))
}
