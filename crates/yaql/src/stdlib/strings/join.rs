use crate::eval::Ctx;

use crate::stdlib::prelude::*;
use crate::stdlib::strings::support::{TextBuilder, not_a_string};

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Concatenates the elements of a collection, each converted with `str`, with a separator between them. The collection and the separator may be in either order.",
    overloads: &[
        ("m join(sequence: iter, separator: string)", join),
        ("m join(separator: string, sequence: iter)", join_by),
    ],
    examples: &[
        ("[a, 1, null, true].join('-')", r#""a-1-null-true""#),
        ("', '.join([x, y])", r#""x, y""#),
        ("[[1, x]].join('')", r#""(1, 'x')""#),
        ("[].join(',')", r#""""#),
        ("[a].join(1)", "NoMatchingMethodException"),
    ],
    purity: Purity::Pure,
};

fn join(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let sequence = args.value(0);
    let separator = args.text(1);
    join_texts(cx, sequence, &separator, args.ctx)
}

fn join_by(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let separator = args.text(0);
    let sequence = args.value(1);
    join_texts(cx, sequence, &separator, args.ctx)
}

fn join_texts(cx: &mut Cx<'_>, sequence: Value, separator: &str, ctx: &Ctx) -> Result<Value> {
    if cx.redefined("str", ctx) {
        return join_redefined(cx, sequence, separator, ctx);
    }
    let mut items = cx.iterate(sequence)?;
    let mut out = TextBuilder::default();
    let mut first = true;
    while let Some(item) = items.next(cx)? {
        if !first {
            out.push(cx, separator)?;
        }
        first = false;
        out.push_value(cx, &item)?;
    }
    Ok(out.finish())
}

/// Joins with a redefined `str`, which may return other values than strings.
fn join_redefined(cx: &mut Cx<'_>, sequence: Value, separator: &str, ctx: &Ctx) -> Result<Value> {
    let mut items = cx.iterate(sequence)?;
    let mut out = TextBuilder::default();
    let mut count = 0usize;
    // Python YAQL checks the types of all pieces at the end.
    let mut type_error = None;
    while let Some(item) = items.next(cx)? {
        if count > 0 {
            out.push(cx, separator)?;
        }
        let text = cx.call_values("str", [item], ctx)?;
        match text.as_str() {
            Some(text) => out.push(cx, text)?,
            None => _ = type_error.get_or_insert_with(|| not_a_string(count, &text)),
        }
        count += 1;
    }
    match type_error {
        Some(error) => Err(error),
        None => Ok(out.finish()),
    }
}
