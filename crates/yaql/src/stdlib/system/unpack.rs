use crate::stdlib::prelude::*;
use crate::syntax::VarName;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "system",
    doc: "Returns a context that binds the elements of a collection to the given names, or to `$1`, `$2`, … without names. Fails with ValueError if the number of names differs from the number of elements. Without names, the first element of a single-pass iterator is lost; convert it with `toList()` first.",
    overloads: &[("m unpack(sequence: iter, args: string...)", unpack)],
    examples: &[
        ("[3, 4].unpack(width, height) -> $width * $height", "12"),
        ("[3, 4].unpack() -> $2 - $1", "1"),
        ("[3, 4].unpack(width)", "ValueError"),
        ("range(3).unpack() -> [$1, $2, $3]", "[1, 2, null]"),
    ],
    purity: Purity::Pure,
};

fn unpack(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let ctx = args.ctx;
    let collection = args.value(0);
    let names = args.rest_values();
    let single_pass = matches!(collection, Value::Iterator(_) | Value::Ordering(_) | Value::Values(_));
    let mut source = cx.iterate(collection)?;
    let mut items = Vec::new();
    while let Some(item) = source.next(cx)? {
        cx.charge(24)?;
        items.push(item);
        if !names.is_empty() && items.len() > names.len() {
            break;
        }
    }
    if !names.is_empty() {
        if items.len() != names.len() {
            let message = format!("Cannot unpack {} elements into {}", items.len(), names.len());
            return Err(Box::new(Error::value(message)));
        }
        let vars = names.iter().zip(items).map(|(name, item)| {
            let name = name.as_str().unwrap_or_default();
            (VarName::new(name.strip_prefix('$').unwrap_or(name)), item)
        });
        return Ok(Value::Context(ctx.with_vars(vars)?));
    }
    // Python YAQL consumes the first element of an iterator before binding, a bug preserved for
    // compatibility.
    let lost = usize::from(single_pass && !items.is_empty());
    let vars = items.into_iter().skip(lost).enumerate();
    let vars = vars.map(|(index, item)| (VarName::Positional(index as u32 + 1), item));
    Ok(Value::Context(ctx.with_vars(vars)?))
}
