//! The strategy of a task: the maximum number of its instances that run concurrently.

use stoker_diagnostics::Diagnostics;
use stoker_model::StrategyType;
use stoker_yaml::Node;

use crate::expression::is_computed;
use crate::reader::{Fields, integer_in, one_of};

pub(super) fn check_strategy(node: &Node, problems: &mut Diagnostics) {
    let Some(mut fields) = Fields::new(node, problems) else { return };
    fields.required("type", |node, problems| {
        if is_computed(node) { Some(()) } else { one_of(StrategyType::NAMES)(node, problems).map(|_| ()) }
    });
    // Zero means no limit.
    fields.optional("amount", |node, problems| {
        if is_computed(node) { Some(()) } else { integer_in(0..=i64::MAX)(node, problems).map(|_| ()) }
    });
    fields.finish_with_warnings();
}
