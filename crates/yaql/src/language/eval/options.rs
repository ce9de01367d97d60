//! Options and limits of an evaluation, and the host interface.

/// Options of Python YAQL's engine.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent options, always set by name")]
pub struct Options {
    /// Maximum length of a collection that is iterated over or returned; negative means no limit.
    pub limit_iterators: i64,
    /// Maximum size of a single value in bytes, as estimated by Python YAQL; zero or negative means no
    /// limit.
    pub memory_quota: i64,
    pub convert_tuples_to_lists: bool,
    pub convert_sets_to_lists: bool,
    pub convert_input_data: bool,
    pub convert_output_data: bool,
    /// Whether maps are iterable (over their keys).
    pub iterable_dicts: bool,
}

impl Options {
    /// The defaults of Python YAQL for the limits and conversions.
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

/// Limits that apply regardless of [`Options`].
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum number of steps; each evaluated node and each moved element is about one step.
    pub steps: u64,
    /// Maximum nesting depth of evaluations.
    pub depth: u32,
    /// Maximum bytes of values created; freed values are not credited.
    pub memory: u64,
}

impl Limits {
    /// Default limits.
    pub const DEFAULT: Self = Self { steps: 100_000_000, depth: 3_000, memory: 2 << 30 };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The environment of an evaluation. The engine itself has no clock and no random source.
pub trait Host: Sync {
    /// Microseconds since 1970-01-01T00:00:00Z.
    fn now_micros(&self) -> i64;

    /// Returns the offset of the local time zone, in seconds east of UTC.
    fn local_offset_seconds(&self) -> i32 {
        0
    }

    /// Returns uniformly distributed bits.
    fn random_bits(&self) -> u64;

    /// Polled periodically during an evaluation; returning true ends it with an error.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// A deterministic host: fixed clock and fixed random bits.
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
