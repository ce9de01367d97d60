//! Lists, maps and sets: literals, access and functions that return modified copies.

mod edit;
mod flattening;
mod membership;
mod sets;

functions! {
    // sorted
    add,
    contains,
    contains_key,
    contains_value,
    delete,
    delete_all,
    dict,
    difference,
    flatten,
    get,
    indexer,
    insert,
    insert_many,
    intersect,
    is_dict,
    is_list,
    is_set,
    items,
    keys,
    len,
    list,
    list_literal,
    map_literal,
    operator_add,
    operator_dot,
    operator_ge,
    operator_gt,
    operator_in,
    operator_le,
    operator_lt,
    operator_mul,
    operator_sub,
    remove,
    replace,
    replace_many,
    set,
    symmetric_difference,
    to_dict,
    to_list,
    to_set,
    union,
    values,
    // end sorted
}
