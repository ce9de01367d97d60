//! What an evaluation may do and what it is told about the world.

/// Options of the reference engine.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own, known by its name")]
pub struct Options {
    /// The longest collection that may be walked or returned; negative: no limit.
    pub limit_iterators: i64,
    /// The largest single value in bytes, by the reference's reckoning; not positive: no limit.
    pub memory_quota: i64,
    pub convert_tuples_to_lists: bool,
    pub convert_sets_to_lists: bool,
    pub convert_input_data: bool,
    pub convert_output_data: bool,
    /// Maps count as collections of their keys.
    pub iterable_dicts: bool,
}

impl Options {
    /// What holds when nothing is said.
    pub const DEFAULT: Self = Self {
        limit_iterators: 10_000,
        memory_quota: 100 * 1024 * 1024,
        convert_tuples_to_lists: true,
        convert_sets_to_lists: true,
        convert_input_data: true,
        convert_output_data: true,
        iterable_dicts: false,
    };
}

impl Default for Options {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Bounds that hold whatever the options say.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Evaluation steps: about one per node evaluated or element moved.
    pub steps: u64,
    /// Nested evaluations.
    pub depth: u32,
    /// Bytes of values made, counted when made and never given back.
    pub memory: u64,
}

impl Limits {
    /// What holds when nothing is said.
    pub const DEFAULT: Self = Self { steps: 100_000_000, depth: 3_000, memory: 2 << 30 };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What the language can ask of the world. The engine itself has no clock and no dice.
pub trait Host: Sync {
    /// Microseconds since 1970-01-01T00:00:00Z.
    fn now_micros(&self) -> i64;

    /// The local time zone, in seconds east of UTC.
    fn local_offset_seconds(&self) -> i32 {
        0
    }

    /// Uniformly distributed bits.
    fn random_bits(&self) -> u64;

    /// Asked now and then during an evaluation; true ends it.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// A world in which it is always 1970 and every die shows the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct FixedHost {
    pub now_micros: i64,
    pub random_bits: u64,
}

impl Host for FixedHost {
    fn now_micros(&self) -> i64 {
        self.now_micros
    }

    fn random_bits(&self) -> u64 {
        self.random_bits
    }
}
