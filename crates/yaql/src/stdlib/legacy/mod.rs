//! Functions of YAQL 0.2, as a layer above the current library.

mod extension;
mod pairs;

pub(super) use extension::extensions;

functions! {
    // sorted
    as_,
    dict,
    indexer,
    operator_dot,
    operator_pair,
    range,
    switch,
    to_list,
    tuple,
    // end sorted
}
