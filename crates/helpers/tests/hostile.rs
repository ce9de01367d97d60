//! Property tests: loading any text succeeds or reports problems, and all spans are inside the text.

use proptest::prelude::*;
use stoker_helpers::{HelperFile, load};
use stoker_yaql::Library;

fn check(text: &str) -> Result<(), TestCaseError> {
    let loaded = load(&[HelperFile { name: "a.yaml", text }], &Library::standard());
    prop_assert_eq!(loaded.library.is_none(), loaded.has_errors());
    for problem in &loaded.problems {
        let std::ops::Range { start, end } = problem.location.span.expect("a span").bytes();
        prop_assert!(start <= end && end <= text.len(), "{problem:?}");
        prop_assert!(text.is_char_boundary(start) && text.is_char_boundary(end), "{problem:?}");
        prop_assert!(!problem.message.is_empty());
    }
    for helper in &loaded.helpers {
        for at in 0..=helper.body.len() {
            let span = helper.span_of(text, at..at + 1);
            prop_assert!(span.start.offset <= span.end.offset && span.end.offset as usize <= text.len());
        }
    }
    Ok(())
}

/// Fragments of helper files, combined in any order.
fn fragment() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "functions:\n",
        "  - name: ",
        "    body: ",
        "    parameters: [x, y]\n",
        "    examples: [{expression: a(1), result: 1}]\n",
        "    override: true\n",
        "a",
        "len",
        "$x + b(1)",
        "'it''s ~'",
        "\"\\u0041 + \\n )\"",
        "|\n      1 +\n      ä )\n",
        ">-\n      [1,\n      2\n",
        "\n",
        " ",
        "- ",
        ": ",
        "&a ",
        "*a",
        "🦀",
    ])
}

proptest! {
    #[test]
    fn random_fragments(fragments in prop::collection::vec(fragment(), 0..40)) {
        check(&fragments.concat())?;
    }

    #[test]
    fn random_bodies(body in ".{0,60}") {
        let quoted = body.replace('\'', "''");
        check(&format!("functions:\n  - name: mine\n    body: '{quoted}'\n"))?;
        check(&format!("functions:\n  - name: mine\n    body: |\n      {body}\n"))?;
    }
}
