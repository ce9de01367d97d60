//! Tags of the safe loader.

use granit_parser::Tag as SourceTag;

const NAMESPACE: &str = "tag:yaml.org,2002:";

/// What a tag, written or implied by the form of a plain scalar, says about its node.
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

/// A tag as found in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Nothing,
    /// A lone `!`.
    NonSpecific,
    Known(Tag),
    Unknown,
}

impl Written {
    pub(crate) fn read(tag: Option<&SourceTag>) -> Self {
        let Some(tag) = tag else { return Self::Nothing };
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
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, tag)| *tag)
    }

    /// As users write it.
    pub(crate) fn name(self) -> String {
        let known = Self::ALL.iter().find(|(_, tag)| *tag == self);
        format!("`!!{}`", known.map_or("", |(name, _)| name))
    }
}
