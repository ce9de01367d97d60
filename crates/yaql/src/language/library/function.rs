//! The function interface: signatures, documentation, examples and implementation.

use std::borrow::Cow;

use crate::error::Result;
use crate::eval::{Args, Cx};
use crate::value::Value;

/// A function of the standard library or of an embedding program.
pub trait Function: Send + Sync {
    /// Returns the signatures, one per overload; see [`crate::library::Signature`] for the syntax.
    fn signatures(&self) -> Cow<'_, [Cow<'_, str>]>;

    fn doc(&self) -> FunctionDoc<'_>;

    /// Returns the source of a function written in YAQL, which static analysis of reads has to include.
    fn body(&self) -> Option<&str> {
        None
    }

    /// Returns the default value per parameter of a function written in YAQL.
    fn defaults(&self) -> &[Option<Value>] {
        &[]
    }

    /// Calls the overload with that index.
    fn call(&self, overload: usize, cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value>;
}

/// The documentation of a function.
#[derive(Clone, Debug)]
pub struct FunctionDoc<'a> {
    /// The function family, such as `strings`.
    pub module: &'a str,
    /// Description in a short paragraph.
    pub text: &'a str,
    pub examples: Cow<'a, [Example<'a>]>,
    pub purity: Purity,
}

/// An expression and its result: JSON, or the class of an error.
#[derive(Clone, Debug)]
pub struct Example<'a> {
    pub expression: &'a str,
    pub result: &'a str,
}

/// Dependencies of the result other than the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purity {
    Pure,
    /// Reads the clock, the time zone or a source of random numbers.
    Impure,
}

/// The implementation of a built-in overload.
pub type NativeFunction = fn(&mut Cx<'_>, &mut Args<'_>) -> Result<Value>;

/// The declaration of a standard library function.
pub struct Builtin {
    pub module: &'static str,
    pub doc: &'static str,
    pub overloads: &'static [(&'static str, NativeFunction)],
    /// Pairs of expression and result.
    pub examples: &'static [(&'static str, &'static str)],
    pub purity: Purity,
}

impl Function for &'static Builtin {
    fn signatures(&self) -> Cow<'_, [Cow<'_, str>]> {
        self.overloads.iter().map(|(signature, _)| Cow::Borrowed(*signature)).collect()
    }

    fn doc(&self) -> FunctionDoc<'_> {
        let examples =
            self.examples.iter().map(|(expression, result)| Example { expression, result }).collect();
        FunctionDoc { module: self.module, text: self.doc, examples, purity: self.purity }
    }

    fn call(&self, overload: usize, cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
        (self.overloads[overload].1)(cx, args)
    }
}
