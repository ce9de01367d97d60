use stoker_yaql::eval::{Args, Cx};
use stoker_yaql::json::{WriteOptions, write};
use stoker_yaql::library::{Builtin, Purity};
use stoker_yaql::{Result, Value};

use crate::json::without_sets;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "state",
    doc: "The value as JSON on one line.",
    overloads: &[("fm toJson(value: any)", call)],
    examples: &[("{a => [1, true, null]}.toJson()", r#""{\"a\": [1, true, null]}""#)],
    purity: Purity::Pure,
};

fn call(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let value = args.value(0);
    let value = without_sets(cx.convert(value)?);
    let text =
        write(&value, &WriteOptions { tags: false, bytes_max: cx.text_max(), ..WriteOptions::default() })?;
    cx.check_bytes(text.len() as u64)?;
    cx.text(text)
}
