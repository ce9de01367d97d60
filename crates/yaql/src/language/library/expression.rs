//! User-defined functions whose body is a YAQL expression.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;

use super::{Example, Function, FunctionDoc, Purity};
use crate::error::Result;
use crate::eval::{Args, Ctx, Cx};
use crate::syntax::VarName;
use crate::value::Value;

/// A function written in YAQL.
///
/// The body refers to parameters by name, and to the first parameter also as `$`. It cannot access variables
/// of the caller. It may call every function of the library it is evaluated with, including itself; the depth
/// limit of the evaluation bounds recursion.
#[derive(Clone, Debug)]
pub struct ExpressionFunction {
    /// Signature in the syntax of [`crate::library::Signature`]; all parameters take evaluated values.
    pub signature: String,
    /// Parameter names, in order.
    pub params: Vec<Arc<str>>,
    /// Default value per parameter, for defaults that a signature cannot express.
    pub defaults: Vec<Option<Value>>,
    pub doc: String,
    /// Example expressions with their results as JSON.
    pub examples: Vec<(String, String)>,
    pub body: Arc<str>,
    /// Whether the body, directly or through calls, reads the clock or random numbers.
    pub purity: Purity,
}

impl Function for ExpressionFunction {
    fn signatures(&self) -> Cow<'_, [Cow<'_, str>]> {
        Cow::Owned(vec![Cow::Borrowed(self.signature.as_str())])
    }

    fn doc(&self) -> FunctionDoc<'_> {
        let examples =
            self.examples.iter().map(|(expression, result)| Example { expression, result }).collect();
        FunctionDoc { module: "helpers", text: &self.doc, examples, purity: self.purity }
    }

    fn body(&self) -> Option<&str> {
        Some(&self.body)
    }

    fn defaults(&self) -> &[Option<Value>] {
        &self.defaults
    }

    fn call(&self, _: usize, cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
        let mut vars: SmallVec<[(VarName, Value); 4]> = SmallVec::new();
        for (index, name) in self.params.iter().enumerate() {
            let default = || self.defaults.get(index).cloned().flatten();
            let value = args.optional(index).or_else(default).unwrap_or_default();
            if index == 0 {
                vars.push((VarName::FIRST, value.clone()));
            }
            vars.push((VarName::Named(name.clone()), value));
        }
        vars.extend(args.ctx.hidden());
        let program = cx.program_of(&self.body)?;
        cx.eval(&program, program.tree.root, &Ctx::root(vars))
    }
}
