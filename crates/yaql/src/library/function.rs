//! What a function is: signatures, documentation, examples, and a body.

use std::borrow::Cow;

use crate::error::Result;
use crate::eval::{Args, Cx};
use crate::value::Value;

/// A function of the library or of an embedding program.
pub trait Function: Send + Sync {
    /// Signatures, one per overload; see [`crate::library::Signature`] for how they are written.
    fn signatures(&self) -> Cow<'_, [Cow<'_, str>]>;

    fn doc(&self) -> FunctionDoc<'_>;

    /// The expression it evaluates, if that is what it does: whoever asks what an expression reads has to look there.
    fn body(&self) -> Option<&str> {
        None
    }

    /// Beside each parameter of a function with a body, its value when none is given.
    fn defaults(&self) -> &[Option<Value>] {
        &[]
    }

    /// Runs the overload with that index.
    fn call(&self, overload: usize, cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value>;
}

/// What people read about a function.
#[derive(Clone, Debug)]
pub struct FunctionDoc<'a> {
    /// The family it belongs to, such as `strings`.
    pub module: &'a str,
    /// A short paragraph.
    pub text: &'a str,
    pub examples: Cow<'a, [Example<'a>]>,
    pub purity: Purity,
}

/// An expression and what it gives: a result as JSON, or the class of an error.
#[derive(Clone, Debug)]
pub struct Example<'a> {
    pub expression: &'a str,
    pub result: &'a str,
}

/// Whether a result depends on anything but the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purity {
    Pure,
    /// Reads the clock, the time zone or a source of random numbers.
    Impure,
}

/// The body of a built-in overload.
pub type Native = fn(&mut Cx<'_>, &mut Args<'_>) -> Result<Value>;

/// A function of the standard library, written down as data.
pub struct Builtin {
    pub module: &'static str,
    pub doc: &'static str,
    pub overloads: &'static [(&'static str, Native)],
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
