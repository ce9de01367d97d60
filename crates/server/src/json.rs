//! Documents without a shape.

pub(crate) use stoker_state::json::{merge, merged};
