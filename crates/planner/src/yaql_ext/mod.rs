//! State functions: YAQL functions over the new and the old state, layered over the standard library; one
//! file each.
//!
//! Their argument is an expression that is evaluated with `$` bound to a whole state, even inside a lambda:
//! in `$.nodes.where($.uid = new($.uid))` the right side is the uid of the current node. To add a function,
//! add its file and a line in [`FUNCTIONS`].

mod added;
mod changed;
mod changed_all;
mod changed_any;
mod deleted;
pub(crate) mod difference;
pub(crate) mod inputs_changed;
mod is_undef;
pub(crate) mod missing;
mod network_scheme;
mod new;
mod old;
pub(crate) mod result_cache;
pub(crate) mod same;
pub(crate) mod scope;
mod sequence;
mod to_json;
mod to_yaml;
pub(crate) mod undefined;

use std::sync::{Arc, LazyLock};

use stoker_yaql::Library;
use stoker_yaql::library::{Builtin, Function};

const FUNCTIONS: &[&Builtin] = &[
    // sorted
    &added::FUNCTION,
    &changed::FUNCTION,
    &changed_all::FUNCTION,
    &changed_any::FUNCTION,
    &deleted::FUNCTION,
    &inputs_changed::FUNCTION,
    &is_undef::FUNCTION,
    &network_scheme::FUNCTION,
    &new::FUNCTION,
    &old::FUNCTION,
    &to_json::FUNCTION,
    &to_yaml::FUNCTION,
    // end sorted
];

static LIBRARY: LazyLock<Arc<Library>> = LazyLock::new(|| {
    let standard = Library::standard();
    let functions = FUNCTIONS.iter().map(|function| Arc::new(*function) as Arc<dyn Function>);
    // Cannot fail: the signatures are constants in this module, and a test covers each of them.
    standard.with_layer(functions, &[]).map_or(standard, Arc::new)
});

/// The functions that expressions in task fields can call. User-defined helpers are layered over it.
pub fn library() -> Arc<Library> {
    LIBRARY.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_functions_are_registered() {
        for name in ["new", "old", "changed", "changedAny", "changedAll", "added", "deleted", "isUndef"] {
            assert!(library().get(name).is_some(), "{name}");
        }
        assert!(library().get("toYaml").is_some_and(|entry| !entry.methods.is_empty()));
    }
}
