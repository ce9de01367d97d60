use crate::stdlib::prelude::*;

pub(super) static FUNCTION: Builtin = Builtin {
    module: "strings",
    doc: "Returns the distinct characters of the selected ASCII classes, as a tuple in unspecified order. Fails with AttributeError for `letters`, `lowercase` and `uppercase`, which depended on the locale; use the classes that start with `ascii`.",
    overloads: &[(
        "f characters(digits: bool? = false, hexdigits: bool? = false, asciiLowercase: bool? = false, asciiUppercase: bool? = false, asciiLetters: bool? = false, letters: bool? = false, octdigits: bool? = false, punctuation: bool? = false, printable: bool? = false, lowercase: bool? = false, uppercase: bool? = false, whitespace: bool? = false)",
        characters,
    )],
    examples: &[
        ("characters(octdigits => true).join('').len()", "8"),
        ("characters(true, true).join('').len()", "22"),
        ("'!' in characters(punctuation => true)", "true"),
        ("characters()", "[]"),
        ("characters(uppercase => true)", "AttributeError"),
    ],
    purity: Purity::Pure,
};

/// The characters of the class of each parameter, in order; `None` for classes that fail.
const CLASSES: [(&str, Option<&str>); 12] = [
    ("digits", Some("0123456789")),
    ("hexdigits", Some("0123456789abcdefABCDEF")),
    ("ascii_lowercase", Some("abcdefghijklmnopqrstuvwxyz")),
    ("ascii_uppercase", Some("ABCDEFGHIJKLMNOPQRSTUVWXYZ")),
    ("ascii_letters", Some("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")),
    ("letters", None),
    ("octdigits", Some("01234567")),
    ("punctuation", Some("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")),
    (
        "printable",
        Some(
            "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\
             !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \t\n\r\x0b\x0c",
        ),
    ),
    ("lowercase", None),
    ("uppercase", None),
    ("whitespace", Some(" \t\n\r\x0b\x0c")),
];

fn characters(cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
    let mut included = 0u128;
    let mut items = Vec::new();
    for (index, (name, letters)) in CLASSES.iter().enumerate() {
        if !args.bool(index) {
            continue;
        }
        let Some(letters) = letters else { return Err(missing_class(name)) };
        for letter in letters.chars() {
            let bit = 1 << u32::from(letter);
            if included & bit == 0 {
                included |= bit;
                items.push(Value::str(letter.encode_utf8(&mut [0; 4]) as &str));
            }
        }
    }
    cx.tuple(items)
}

fn missing_class(name: &str) -> Box<Error> {
    let message = format!("module 'string' has no attribute '{name}'");
    let help = "use asciiLetters, asciiLowercase or asciiUppercase";
    Box::new(Error::new(ErrorClass::Attribute, message).help(help))
}
