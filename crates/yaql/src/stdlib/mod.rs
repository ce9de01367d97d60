//! The standard library: one directory per family, one file per function.
//!
//! To add a function, create a file with a [`Builtin`] named `FUNCTION` in the directory of its family and
//! add its name to the sorted list in that directory's `mod.rs`. The examples run as tests and appear in the
//! function reference; a test over all functions checks signatures and documentation.

#![allow(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "all function implementations share one type"
)]

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use crate::error::Result;
use crate::eval::{Args, Cx};
use crate::library::{Builtin, Function, FunctionDoc, Library, Overload, Purity, Signature};
use crate::value::Value;

/// Declares the modules of a family and collects their functions.
macro_rules! functions {
    ($($name:ident,)*) => {
        $(mod $name;)*

        pub(super) static FUNCTIONS: &[&crate::library::Builtin] = &[$(&$name::FUNCTION,)*];
    };
}

mod boolean;
mod branching;
mod collections;
mod common;
mod date_time;
mod delegates;
mod fallback;
mod legacy;
mod math;
mod queries;
mod regex;
mod strings;
mod system;
#[cfg(test)]
mod testing;

/// Imports shared by all function files.
mod prelude {
    pub(super) use crate::error::{Error, ErrorClass, Result};
    pub(super) use crate::eval::{Args, Cx, Lambda, Lazy, LimitedCursor};
    pub(super) use crate::library::{Builtin, Purity};
    pub(super) use crate::value::{Key, Map, MapBuilder, MapView, Value};
}

/// Level of compatibility with YAQL 0.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Legacy {
    #[default]
    Off,
    /// The 0.2 functions with the current grammar.
    Context,
    /// The 0.2 functions and grammar.
    Full,
}

static STANDARD: LazyLock<Arc<Library>> = LazyLock::new(|| {
    let library = layer(&Library::default(), &[fallback::FUNCTIONS]);
    let families = [
        boolean::FUNCTIONS,
        branching::FUNCTIONS,
        collections::FUNCTIONS,
        common::FUNCTIONS,
        date_time::FUNCTIONS,
        math::FUNCTIONS,
        queries::FUNCTIONS,
        regex::FUNCTIONS,
        strings::FUNCTIONS,
        system::FUNCTIONS,
    ];
    Arc::new(layer(&library, &families).mark_standard())
});

pub(crate) fn standard() -> Arc<Library> {
    STANDARD.clone()
}

/// Returns the library for a combination of dialect options.
pub(crate) fn dialect(delegates: bool, legacy: Legacy) -> Arc<Library> {
    static DELEGATES: LazyLock<Arc<Library>> =
        LazyLock::new(|| Arc::new(layer(&STANDARD, &[delegates::FUNCTIONS])));
    static LEGACY: LazyLock<Arc<Library>> = LazyLock::new(|| Arc::new(legacy_layer(&STANDARD)));
    static BOTH: LazyLock<Arc<Library>> = LazyLock::new(|| Arc::new(legacy_layer(&DELEGATES)));
    match (delegates, legacy) {
        (false, Legacy::Off) => standard(),
        (true, Legacy::Off) => DELEGATES.clone(),
        (false, _) => LEGACY.clone(),
        (true, _) => BOTH.clone(),
    }
}

fn legacy_layer(library: &Library) -> Library {
    let families = [legacy::FUNCTIONS];
    let functions = builtins(&families).chain(legacy::extensions(library));
    add_layer(library, functions, &["#indexer", "switch"])
}

fn layer(library: &Library, families: &[&[&'static Builtin]]) -> Library {
    add_layer(library, builtins(families), &[])
}

fn builtins(families: &[&[&'static Builtin]]) -> impl Iterator<Item = Arc<dyn Function>> {
    families.iter().copied().flatten().map(|builtin| Arc::new(*builtin) as Arc<dyn Function>)
}

fn add_layer(
    library: &Library,
    functions: impl Iterator<Item = Arc<dyn Function>>,
    exclusive: &[&str],
) -> Library {
    match library.with_layer(functions, exclusive) {
        Ok(library) => library,
        // Unreachable: a test parses every signature.
        Err(error) => unreachable!("{error}"),
    }
}

/// Returns the overload that stands for functions defined by `def`: any arguments, all evaluated.
pub(crate) fn defined_overload() -> Arc<Overload> {
    struct Defined;
    impl Function for Defined {
        fn signatures(&self) -> Cow<'_, [Cow<'_, str>]> {
            Cow::Borrowed(&[])
        }

        fn doc(&self) -> FunctionDoc<'_> {
            FunctionDoc { module: "system", text: "", examples: Cow::Borrowed(&[]), purity: Purity::Pure }
        }

        fn call(&self, _: usize, _: &mut Cx<'_>, _: &mut Args<'_>) -> Result<Value> {
            Ok(Value::Null)
        }
    }
    match Signature::parse("f def(args: any..., **kwargs: any)") {
        Ok(signature) => Arc::new(Overload { signature, function: Arc::new(Defined), index: 0 }),
        Err(error) => unreachable!("{error}"),
    }
}
