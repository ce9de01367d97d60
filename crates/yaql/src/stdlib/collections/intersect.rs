use super::sets;
use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "collections",
    doc: "Returns the elements that are in both sets. The argument may be a map view. Fails with AttributeError if the receiver is one.",
    overloads: &[("m intersect(left: set, right: set)", intersect)],
    examples: &[
        ("set(1, 2, 3).intersect(set(2, 3, 4))", "[2, 3]"),
        ("set(a, b).intersect({b => 1}.keys())", "[\"b\"]"),
        ("set(1).intersect([1])", "NoMatchingMethodException"),
        ("{a => 1}.items().intersect(set(1))", "AttributeError"),
    ],
    purity: Purity::Pure,
};

fn intersect(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let left = sets::receiver(args.value(0), "intersection")?;
    let right = args.value(1);
    let is_view = !matches!(right, Value::Set(_));
    let right = sets::operand(cx, right)?;
    // For equal elements of different types, such as 1 and 1.0, the result contains the element of `source`.
    let (source, other) = if is_view || right.len() <= left.len() { (right, left) } else { (left, right) };
    cx.steps(source.len() as u64)?;
    sets::of_keys(cx, source.iter_keys().filter(|key| other.contains(key)))
}

#[cfg(test)]
mod tests {
    use crate::stdlib::testing::evaluate;

    #[test]
    fn equal_elements_are_taken_from_the_smaller_set() {
        for (expression, result) in [
            ("set(1).intersect(set(1.0))", "[1.0]"),
            ("set(1).intersect(set(1.0, 2))", "[1]"),
            ("set(1).intersect({1.0 => 3, 5 => 6}.keys())", "[1.0]"),
            ("set(1).intersect({a => {}.keys()}.items())", "TypeError"),
            ("set().difference({a => {}.keys()}.items())", "TypeError"),
            ("set(1.0).union(set(1))", "[1.0]"),
        ] {
            assert_eq!(evaluate(expression), result, "{expression}");
        }
    }
}
