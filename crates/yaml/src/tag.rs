//! Tags supported by the safe loader.

use granit_parser::Tag as SourceTag;

use stoker_diagnostics::{Diagnostic, Span};

use crate::codes;

const NAMESPACE: &str = "tag:yaml.org,2002:";

/// The type of a node, given by an explicit tag or implied by the form of a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Null,
    Bool,
    Int,
    Float,
    Str,
    Timestamp,
    /// The key `<<`.
    Merge,
    /// The key `=`.
    Value,
    Seq,
    Omap,
    Pairs,
    Map,
    Set,
}

/// A tag as written in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExplicitTag {
    Absent,
    /// A lone `!`.
    NonSpecific,
    Known(Tag),
    Unknown,
}

impl ExplicitTag {
    pub(crate) fn read(tag: Option<&SourceTag>) -> Self {
        let Some(tag) = tag else { return Self::Absent };
        if let Some(name) = tag.suffix_in_namespace(NAMESPACE) {
            return Tag::by_name(&name).map_or(Self::Unknown, Self::Known);
        }
        if matches!(tag.parts(), ("", "!") | ("!", "")) { Self::NonSpecific } else { Self::Unknown }
    }
}

impl Tag {
    const ALL: [(&'static str, Self); 13] = [
        ("null", Self::Null),
        ("bool", Self::Bool),
        ("int", Self::Int),
        ("float", Self::Float),
        ("str", Self::Str),
        ("timestamp", Self::Timestamp),
        ("merge", Self::Merge),
        ("value", Self::Value),
        ("seq", Self::Seq),
        ("omap", Self::Omap),
        ("pairs", Self::Pairs),
        ("map", Self::Map),
        ("set", Self::Set),
    ];

    fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(tag_name, _)| *tag_name == name).map(|(_, tag)| *tag)
    }

    /// Returns the tag as written in YAML, in backticks.
    pub(crate) fn name(self) -> String {
        let entry = Self::ALL.iter().find(|(_, tag)| *tag == self);
        format!("`!!{}`", entry.map_or("", |(name, _)| name))
    }
}

pub(crate) fn misplaced_tag(tag: Tag, on: &str, span: Span) -> Diagnostic {
    Diagnostic::error(codes::TAG, format!("tag {} cannot be applied to {on}", tag.name()))
        .at(span)
        .help("remove the tag")
}
