//! Data about a plan that is stored beside it, with a format version of its own: an older server ignores it and can
//! still drive the plan.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};
use stoker_diagnostics::Diagnostic;
use stoker_model::{InstanceIdx, Json};
use stoker_state::Taint;

use crate::reasons::Difference;
use crate::report::PlanningReport;
use crate::stored::{DecodeError, StoredProblem};

/// Parameter changes, steady inputs, warnings and doubts of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanExtras {
    /// Inputs to record after a success, by task and index of the details, where they differ from the parameters sent
    /// to the agent (for example because a parameter reads the old state).
    pub steady: BTreeMap<String, BTreeMap<u32, Json>>,
    pub changes: Vec<InputChange>,
    /// Ranges of instances with the same entry in `changes`, sorted by instance.
    pub of: Vec<ChangedInstances>,
    pub warnings: Vec<Diagnostic>,
    /// Instances whose applied state is tainted, sorted.
    pub doubts: Vec<(u32, DoubtView)>,
}

/// Consecutive instances with the same change of inputs. A first run of a large fleet is one range per task, not an
/// entry per instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u32, u32)", into = "(u32, u32, u32)")]
pub struct ChangedInstances {
    pub first: u32,
    pub n_instances: u32,
    /// Index into [`PlanExtras::changes`].
    pub change_idx: u32,
}

impl From<(u32, u32, u32)> for ChangedInstances {
    fn from((first, n_instances, change_idx): (u32, u32, u32)) -> Self {
        Self { first, n_instances, change_idx }
    }
}

impl From<ChangedInstances> for (u32, u32, u32) {
    fn from(range: ChangedInstances) -> Self {
        (range.first, range.n_instances, range.change_idx)
    }
}

/// What changes in the inputs of instances.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputChange {
    /// The first differences; secrets are masked.
    pub differences: Vec<Difference>,
    pub n_differences: u32,
    /// Whether no earlier inputs are known.
    pub is_first: bool,
}

/// The attempt that tainted an applied state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoubtView {
    /// A name of [`stoker_model::TaintCause`].
    pub cause: String,
    pub run: i64,
}

impl From<&Taint> for DoubtView {
    fn from(taint: &Taint) -> Self {
        Self { cause: taint.cause.as_str().to_owned(), run: taint.run }
    }
}

impl PlanExtras {
    /// The extras that planning itself computes.
    pub fn new(report: &PlanningReport) -> Self {
        let doubts =
            report.tainted.iter().map(|(instance_idx, taint)| (*instance_idx, DoubtView::from(taint)));
        Self {
            steady: report.steady.clone(),
            warnings: report.warnings_beside_plan().cloned().collect(),
            doubts: doubts.collect(),
            ..Self::default()
        }
    }

    /// Index of the change of the inputs of an instance; `None` if they do not change.
    pub fn change_idx(&self, instance_idx: InstanceIdx) -> Option<u32> {
        let instance_idx = instance_idx.get();
        let range_idx = self.of.partition_point(|range| range.first <= instance_idx).checked_sub(1)?;
        let range = &self.of[range_idx];
        (instance_idx - range.first < range.n_instances).then_some(range.change_idx)
    }
}

const VERSION: u32 = 1;
/// Maximum size of the uncompressed form, several times that of the largest supported fleet.
const BYTES_MAX: u64 = 256 << 20;

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored<'e> {
    version: u32,
    steady: BTreeMap<String, BTreeMap<u32, Json>>,
    changes: Vec<InputChange>,
    of: Vec<ChangedInstances>,
    #[serde(borrow)]
    warnings: Vec<StoredProblem<'e>>,
    doubts: Vec<(u32, DoubtView)>,
}

pub fn encode_extras(extras: &PlanExtras) -> Vec<u8> {
    let stored = Stored {
        version: VERSION,
        steady: extras.steady.clone(),
        changes: extras.changes.clone(),
        of: extras.of.clone(),
        warnings: extras.warnings.iter().map(StoredProblem::of).collect(),
        doubts: extras.doubts.clone(),
    };
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Neither step can fail: the document is plain data, and writing to a vector does not fail.
    let text = serde_json::to_vec(&stored).unwrap_or_default();
    _ = encoder.write_all(&text);
    encoder.finish().unwrap_or_default()
}

/// Decodes untrusted bytes; indices into `changes` are in range.
pub fn decode_extras(bytes: &[u8]) -> Result<PlanExtras, DecodeError> {
    let mut text = Vec::new();
    ZlibDecoder::new(bytes).take(BYTES_MAX + 1).read_to_end(&mut text)?;
    if text.len() as u64 > BYTES_MAX {
        return Err(DecodeError::TooLarge(BYTES_MAX));
    }
    let version: Version = serde_json::from_slice(&text)?;
    if version.version != VERSION {
        return Err(DecodeError::Version(version.version));
    }
    let stored: Stored<'_> = serde_json::from_slice(&text)?;
    if stored.of.iter().any(|range| range.change_idx as usize >= stored.changes.len()) {
        return Err(DecodeError::Damaged("unknown change of inputs"));
    }
    Ok(PlanExtras {
        steady: stored.steady,
        changes: stored.changes,
        of: stored.of,
        warnings: stored.warnings.into_iter().map(StoredProblem::into_diagnostic).collect(),
        doubts: stored.doubts,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_diagnostics::Severity;

    use super::*;

    fn extras() -> PlanExtras {
        let difference =
            Difference { path: "cmd".to_owned(), old: Some("a".to_owned()), new: Some("b".to_owned()) };
        PlanExtras {
            steady: BTreeMap::from([("t".to_owned(), BTreeMap::from([(3, json!({"cmd": "x"}))]))]),
            changes: vec![InputChange { differences: vec![difference], n_differences: 1, is_first: false }],
            of: vec![(0, 2, 0).into(), (7, 1, 0).into()],
            warnings: vec![
                Diagnostic::warning("graph-not-state", "text \"with\" quotes").task("t", "condition"),
                Diagnostic::warning("plan-definition-unknown", "text").severity(Severity::Note),
            ],
            doubts: vec![(2, DoubtView { cause: "failed".to_owned(), run: 12 })],
        }
    }

    #[test]
    fn extras_round_trip() {
        for extras in [PlanExtras::default(), extras()] {
            assert_eq!(decode_extras(&encode_extras(&extras)).unwrap(), extras);
        }
    }

    #[test]
    fn ranges_answer_for_each_instance() {
        let extras = extras();
        let changed: Vec<u32> =
            (0..10).filter(|idx| extras.change_idx(InstanceIdx::new(*idx)).is_some()).collect();
        assert_eq!(changed, [0, 1, 7]);
        assert_eq!(PlanExtras::default().change_idx(InstanceIdx::new(0)), None);
    }

    #[test]
    fn damaged_extras_are_rejected() {
        let encode = |json: Json| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(json.to_string().as_bytes()).unwrap();
            encoder.finish().unwrap()
        };
        let whole =
            json!({"version": 1, "steady": {}, "changes": [], "of": [], "warnings": [], "doubts": []});
        assert!(decode_extras(&encode(whole.clone())).is_ok());
        let with = |key: &str, value: Json| {
            let mut damaged = whole.clone();
            damaged[key] = value;
            decode_extras(&encode(damaged)).unwrap_err()
        };
        assert!(matches!(with("version", json!(2)), DecodeError::Version(2)));
        assert!(matches!(with("of", json!([[0, 1, 0]])), DecodeError::Damaged(_)));
        assert!(matches!(with("other", json!(1)), DecodeError::Json(_)));
        assert!(matches!(decode_extras(b"no zlib"), Err(DecodeError::Compression(_))));
    }
}
