use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "queries",
    doc: "Returns the number of remaining elements of an iterator, consuming them. The iterator limit does not apply. Fails with CollectionTooLargeException if the iterator appears to be infinite.",
    overloads: &[("fm len(collection: iterator)", len)],
    examples: &[
        ("range(4).len()", "4"),
        ("len([1, 5, 9].where($ > 2))", "2"),
        ("range(20000).len()", "20000"),
        ("sequence().len()", "CollectionTooLargeException"),
    ],
    purity: Purity::Pure,
};

/// Maximum number of elements; longer iterators are assumed to be infinite.
const LENGTH_MAX: u64 = 10_000_000;

fn len(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut source = cx.cursor(args.value(0))?;
    let mut count = 0_u64;
    loop {
        match source.next(cx) {
            Ok(Some(_)) if count == LENGTH_MAX => return Err(infinite_iterator(count)),
            Ok(Some(_)) => count += 1,
            Ok(None) => return Ok(Value::Int(count as i64)),
            Err(error) if error.class == ErrorClass::StepLimit && count > LENGTH_MAX / 10 => {
                return Err(infinite_iterator(count));
            }
            Err(error) => return Err(error),
        }
    }
}

fn infinite_iterator(count: u64) -> Box<Error> {
    let error =
        Error::new(ErrorClass::CollectionTooLarge, format!("Collection length exceeds {count} elements"));
    Box::new(error.help("the iterator appears to be infinite; use `take` to limit it"))
}
