//! The entry point of the crate: compile an expression once, then evaluate it any number of times from any
//! thread.

use std::fmt;
use std::sync::Arc;

use super::{Ctx, Cx, FixedHost, Host, Limits, Observer, Options, Program, ReadSet, budget::Budget, reads};
use crate::error::Result;
use crate::library::Library;
use crate::syntax::{Grammar, NodeId, VarName, parse};
use crate::value::Value;

/// Compiles expressions of one dialect against one library.
#[derive(Clone, Debug)]
pub struct Engine {
    library: Arc<Library>,
    grammar: Grammar,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new(Library::standard())
    }
}

impl Engine {
    pub fn new(library: Arc<Library>) -> Self {
        Self { library, grammar: Grammar::default() }
    }

    /// Creates an engine with or without delegates and legacy functions.
    pub fn with_dialect(delegates: bool, legacy: crate::stdlib::Legacy) -> Self {
        let grammar = Grammar { delegates, legacy: legacy == crate::stdlib::Legacy::Full };
        Self { library: crate::stdlib::dialect(delegates, legacy), grammar }
    }

    /// Returns an engine for the same dialect with another library, for example with a layer of custom
    /// functions.
    #[must_use]
    pub fn with_library(self, library: Arc<Library>) -> Self {
        Self { library, ..self }
    }

    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// Parses an expression. Calls are resolved lazily, on first evaluation.
    pub fn compile(&self, source: &str) -> Result<Expression> {
        let tree = parse(source, self.grammar)?;
        let root = tree.root;
        Ok(Expression { program: Arc::new(Program::new(tree, self.library.clone())), root })
    }
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Expression {
    program: Arc<Program>,
    /// The node to evaluate: the root of the tree, unless this is a subexpression.
    root: NodeId,
}

impl Expression {
    pub fn source(&self) -> &str {
        &self.program.tree.source
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Returns the node to evaluate.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// Returns a subexpression, which shares the tree and the resolved calls.
    pub fn subexpression(&self, node: NodeId) -> Self {
        Self { program: self.program.clone(), root: node }
    }

    /// Returns the input paths that the whole expression may read.
    pub fn reads(&self) -> ReadSet {
        reads::reads(&self.program)
    }

    /// Evaluates with `$` bound to `data` and default options, limits and host.
    pub fn evaluate(&self, data: &Value) -> Result<Value> {
        self.run(Input { data: data.clone(), ..Input::default() })
    }

    pub fn run(&self, input: Input<'_>) -> Result<Value> {
        Evaluation::new(input, &self.program.library).run(self)
    }
}

/// Prints the expression in canonical form, which parses to the same tree.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program.tree.print(self.root, f)
    }
}

/// The inputs of an evaluation.
pub struct Input<'h> {
    /// The value of `$`.
    pub data: Value,
    pub vars: Vec<(VarName, Value)>,
    pub options: &'h Options,
    pub limits: &'h Limits,
    pub host: &'h dyn Host,
    pub observer: Option<&'h mut dyn Observer>,
}

static OPTIONS: Options = Options::DEFAULT;
static LIMITS: Limits = Limits::DEFAULT;
static HOST: FixedHost = FixedHost { now_micros: 0, random_bits: 0 };

impl Default for Input<'_> {
    fn default() -> Self {
        Self {
            data: Value::Null,
            vars: Vec::new(),
            options: &OPTIONS,
            limits: &LIMITS,
            host: &HOST,
            observer: None,
        }
    }
}

/// A single evaluation of an expression.
pub struct Evaluation<'h> {
    cx: Cx<'h>,
    ctx: Ctx,
}

impl<'h> Evaluation<'h> {
    pub fn new(input: Input<'h>, library: &Arc<Library>) -> Self {
        let Input { data, vars, options, limits, host, observer } = input;
        let budget = Budget::new(limits, options);
        let slow =
            observer.is_some() || budget.is_tight() || library.redefines_core() || options.iterable_dicts;
        let cx = Cx {
            options,
            host,
            library: library.clone(),
            budget,
            slow,
            regexes: None,
            programs: None,
            pull_depth: 0,
            orderings: Vec::new(),
            scratch: String::new(),
            last_regex: None,
            empty_program: None,
            observer,
        };
        // Bound last so that `$` takes precedence over a variable of that name.
        let ctx = Ctx::root(vars.into_iter().chain([(VarName::FIRST, data)]));
        Self { cx, ctx }
    }

    fn run(mut self, expression: &Expression) -> Result<Value> {
        let program = &expression.program;
        let result = super::with_stack(|| self.cx.eval(program, expression.root, &self.ctx));
        let result = result.and_then(|value| self.cx.finalize(value));
        self.cx.finish();
        result
    }
}
