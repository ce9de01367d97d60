//! Names of YAQL functions that matter when an expression is analysed for the state that it reads.

/// Methods that evaluate all their arguments with `$` bound to an element of the receiver.
pub const ELEMENT_WISE: &[&str] = &[
    // sorted
    "all",
    "any",
    "indexWhere",
    "lastIndexWhere",
    "orderBy",
    "orderByDescending",
    "select",
    "selectMany",
    "skipWhile",
    "takeWhile",
    "thenBy",
    "thenByDescending",
    "where",
    // end sorted
];

/// Functions that can rebind function names; expressions that call them are not analysed.
pub const REDEFINING: &[&str] = &["call", "def", "lambda"];

/// Observes all inputs of a task.
pub const INPUTS_CHANGED: &str = "inputsChanged";
