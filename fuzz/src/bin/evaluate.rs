//! Input: an expression on the first line, then a JSON document. Under small limits, evaluation and
//! serialization of the result must terminate.

#![no_main]

use libfuzzer_sys::fuzz_target;
use stoker_yaql::json::{InputStyle, WriteOptions, decode, parse, write};
use stoker_yaql::stdlib::Legacy;
use stoker_yaql::{Engine, Input, Limits, Options, Value};

const LIMITS: Limits = Limits { steps: 100_000, depth: 300, memory: 16 << 20 };

fuzz_target!(|text: &str| {
    let (expression, document) = text.split_once('\n').unwrap_or((text, "null"));
    let data = parse(document).ok().and_then(|data| decode(data, InputStyle::Converted).ok());
    let data = data.unwrap_or(Value::Null);
    for (delegates, legacy) in [(true, Legacy::Off), (false, Legacy::Full)] {
        let Ok(expression) = Engine::with_dialect(delegates, legacy).compile(expression) else { continue };
        let options = Options { limit_iterators: 200, memory_quota: 1 << 20, ..Options::default() };
        let input = Input { data: data.clone(), options: &options, limits: &LIMITS, ..Input::default() };
        if let Ok(value) = expression.run(input) {
            let options = WriteOptions { bytes_max: 1 << 20, ..WriteOptions::default() };
            _ = write(&value, &options);
        }
    }
});
