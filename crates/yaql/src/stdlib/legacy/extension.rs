//! Functions that YAQL 0.2 could call both as functions and as methods.

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::Result;
use crate::eval::{Args, Cx};
use crate::library::{Function, FunctionDoc, Library, Style};
use crate::value::Value;

const NAMES: [&str; 10] =
    ["bool", "float", "get", "int", "join", "list", "select", "sum", "takeWhile", "where"];

/// An overload with a single call style, made available in both.
struct Extension {
    inner: Arc<dyn Function>,
    index: usize,
    signature: String,
}

impl Function for Extension {
    fn signatures(&self) -> Cow<'_, [Cow<'_, str>]> {
        Cow::Owned(vec![Cow::Borrowed(self.signature.as_str())])
    }

    fn doc(&self) -> FunctionDoc<'_> {
        FunctionDoc { module: "legacy", examples: Cow::Borrowed(&[]), ..self.inner.doc() }
    }

    fn call(&self, _: usize, cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
        self.inner.call(self.index, cx, args)
    }
}

/// Returns the overloads of a library that this layer adds again for both call styles.
pub(in crate::stdlib) fn extensions(library: &Library) -> Vec<Arc<dyn Function>> {
    let mut extensions: Vec<Arc<dyn Function>> = Vec::new();
    for entry in NAMES.iter().filter_map(|name| library.get(name)) {
        for overload in entry.functions.iter().chain(&entry.methods).flatten() {
            if overload.signature.style == Style::Both {
                continue;
            }
            let signatures = overload.function.signatures();
            let text = signatures[overload.index].split_once(' ').map_or("", |(_, text)| text);
            let signature = format!("fm {text}");
            extensions.push(Arc::new(Extension {
                inner: overload.function.clone(),
                index: overload.index,
                signature,
            }));
        }
    }
    extensions
}
