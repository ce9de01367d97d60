//! Lists, maps, and nullable values.

use stoker_diagnostics::Diagnostics;
use stoker_yaml::{Node, NodeKind, Scalar};

use super::fields::{Fields, key_text};
use super::report_wrong_type;

/// Reads a list of items; `None` if any of them is invalid.
pub fn list_of<T>(
    read: impl Fn(&Node, &mut Diagnostics) -> Option<T>,
) -> impl Fn(&Node, &mut Diagnostics) -> Option<Vec<T>> {
    move |node, problems| {
        let Some(items) = node.as_seq() else {
            let help = matches!(&node.kind, NodeKind::Scalar(scalar) if *scalar != Scalar::Null)
                .then(|| "write a list, even for a single item".to_owned());
            report_wrong_type(node, "a list", problems).help = help;
            return None;
        };
        let mut values = Vec::with_capacity(items.len());
        for (item_idx, item) in items.iter().enumerate() {
            values.extend(problems.in_item(item_idx, |problems| read(item, problems)));
        }
        (values.len() == items.len()).then_some(values)
    }
}

/// Reads a map with string keys, in document order.
pub fn map_of<T>(
    read: impl Fn(&Node, &mut Diagnostics) -> Option<T>,
) -> impl Fn(&Node, &mut Diagnostics) -> Option<Vec<(String, T)>> {
    move |node, problems| {
        let Some(entries) = node.as_map() else {
            report_wrong_type(node, "a map", problems);
            return None;
        };
        let mut values = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let Some(name) = key_text(key, problems) else { continue };
            let value = problems.in_key(name, |problems| read(value, problems));
            values.extend(value.map(|value| (name.to_owned(), value)));
        }
        (values.len() == entries.len()).then_some(values)
    }
}

/// Reads null or a value.
pub fn nullable<T>(
    read: impl Fn(&Node, &mut Diagnostics) -> Option<T>,
) -> impl Fn(&Node, &mut Diagnostics) -> Option<Option<T>> {
    move |node, problems| match &node.kind {
        NodeKind::Scalar(Scalar::Null) => Some(None),
        _ => read(node, problems).map(Some),
    }
}

/// Reads a map with known keys. Reports keys that `read` did not take; `None` if there is any error.
pub fn object<T>(
    read: impl Fn(&mut Fields<'_, '_>) -> Option<T>,
) -> impl Fn(&Node, &mut Diagnostics) -> Option<T> {
    move |node, problems| {
        let n_errors = problems.n_errors();
        let mut fields = Fields::new(node, problems)?;
        let value = read(&mut fields);
        fields.finish();
        value.filter(|_| problems.n_errors() == n_errors)
    }
}
