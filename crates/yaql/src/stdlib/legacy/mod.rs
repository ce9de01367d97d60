//! Functions of YAQL 0.2, one layer above the library of today.

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
