//! The front door: compile once, evaluate often, from any thread.

use std::fmt;
use std::sync::Arc;

use super::{Ctx, Cx, FixedHost, Host, Limits, Observer, Options, Program, Reads, budget::Budget, reads};
use crate::error::Result;
use crate::library::Library;
use crate::syntax::{Grammar, NodeId, VarName, parse};
use crate::value::Value;

/// A dialect and a library: what turns text into expressions.
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

    /// The engine for a combination of delegates and legacy functions.
    pub fn with_dialect(delegates: bool, legacy: crate::stdlib::Legacy) -> Self {
        let grammar = Grammar { delegates, legacy: legacy == crate::stdlib::Legacy::Full };
        Self { library: crate::stdlib::dialect(delegates, legacy), grammar }
    }

    /// The same dialect over another library, such as this one with a layer of its owner's.
    #[must_use]
    pub fn with_library(self, library: Arc<Library>) -> Self {
        Self { library, ..self }
    }

    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// Parses an expression and settles beforehand what can be settled.
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
    /// What is evaluated; the whole tree unless this is a part.
    root: NodeId,
}

impl Expression {
    pub fn source(&self) -> &str {
        &self.program.tree.source
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The node of the tree that is evaluated.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// A part of this expression as an expression of its own, sharing everything that was settled.
    pub fn part(&self, node: NodeId) -> Self {
        Self { program: self.program.clone(), root: node }
    }

    /// What the whole expression may read of its input.
    pub fn reads(&self) -> Reads {
        reads::reads(&self.program)
    }

    /// Evaluates with `$` bound to the data, everything else at its default.
    pub fn evaluate(&self, data: &Value) -> Result<Value> {
        self.run(Input { data: data.clone(), ..Input::default() })
    }

    pub fn run(&self, input: Input<'_>) -> Result<Value> {
        Evaluation::new(input, &self.program.library).run(self)
    }
}

/// An expression in canonical form; parsing it gives the same tree.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program.tree.print(self.root, f)
    }
}

/// Everything an evaluation depends on.
pub struct Input<'h> {
    /// What `$` is.
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

/// One run of one expression.
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
            pulls: 0,
            orderings: Vec::new(),
            scratch: String::new(),
            last_regex: None,
            nothing: None,
            observer,
        };
        // The data comes after the variables: it wins over a variable named like it.
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
