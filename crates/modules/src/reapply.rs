//! Selection and batching of instances to apply a module to again.

use crate::input::ReapplyRequest;

/// An instance that has the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedInstance<T> {
    pub node: T,
    /// MD5 of the contents applied there.
    pub md5: String,
    /// Whether the module may still be applied to the instance.
    pub fits: bool,
}

/// Limits for users, set by the operator; admins may exceed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReapplyLimits {
    pub batch_size: u64,
    pub batch_delay_s: u64,
}

/// The batches to process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batches<T> {
    pub batches: Vec<Vec<T>>,
    /// Pause after each batch, in seconds.
    pub delay_s: u64,
    /// Instances that already have the current contents.
    pub n_current: usize,
    /// Instances whose datastore the module no longer supports.
    pub n_unfit: usize,
}

/// Selects the instances that need the module and splits them into batches, keeping their order.
pub fn plan_batches<T>(
    carriers: Vec<AppliedInstance<T>>,
    current_md5: &str,
    request: &ReapplyRequest,
    limits: ReapplyLimits,
    is_admin: bool,
) -> Batches<T> {
    let size = request.batch_size.unwrap_or(limits.batch_size);
    let delay = request.batch_delay_s.unwrap_or(limits.batch_delay_s);
    let (size, delay_s) =
        if is_admin { (size, delay) } else { (size.min(limits.batch_size), delay.max(limits.batch_delay_s)) };
    let mut result = Batches { batches: Vec::new(), delay_s, n_current: 0, n_unfit: 0 };
    let mut selected = Vec::new();
    for carrier in carriers {
        if request.md5.as_ref().is_some_and(|md5| !md5.eq_ignore_ascii_case(&carrier.md5)) {
            continue;
        }
        if carrier.md5 == current_md5 && !request.force {
            result.n_current += 1;
        } else if carrier.fits {
            selected.push(carrier.node);
        } else {
            result.n_unfit += 1;
        }
    }
    let size = usize::try_from(size.max(1)).unwrap_or(usize::MAX);
    let mut selected = selected.into_iter().peekable();
    while selected.peek().is_some() {
        result.batches.push(selected.by_ref().take(size).collect());
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ReapplyLimits = ReapplyLimits { batch_size: 2, batch_delay_s: 5 };

    fn carriers() -> Vec<AppliedInstance<u32>> {
        let of = |node, md5: &str, fits| AppliedInstance { node, md5: md5.to_owned(), fits };
        vec![
            of(1, "old", true),
            of(2, "new", true),
            of(3, "old", false),
            of(4, "older", true),
            of(5, "old", true),
        ]
    }

    #[test]
    fn only_outdated_instances_are_selected() {
        let request = ReapplyRequest::default();
        let result = plan_batches(carriers(), "new", &request, LIMITS, false);
        assert_eq!(result.batches, [vec![1, 4], vec![5]]);
        assert_eq!((result.n_current, result.n_unfit, result.delay_s), (1, 1, 5));
        let forced = ReapplyRequest { force: true, ..ReapplyRequest::default() };
        assert_eq!(plan_batches(carriers(), "new", &forced, LIMITS, false).batches.concat(), [1, 2, 4, 5]);
        let some = ReapplyRequest { md5: Some("OLD".to_owned()), ..ReapplyRequest::default() };
        assert_eq!(plan_batches(carriers(), "new", &some, LIMITS, false).batches.concat(), [1, 5]);
        assert!(
            plan_batches(Vec::<AppliedInstance<u32>>::new(), "new", &request, LIMITS, true)
                .batches
                .is_empty()
        );
    }

    #[test]
    fn limits_apply_to_users_but_not_to_admins() {
        let request =
            ReapplyRequest { batch_size: Some(100), batch_delay_s: Some(0), ..ReapplyRequest::default() };
        let of_user = plan_batches(carriers(), "new", &request, LIMITS, false);
        assert_eq!((of_user.batches.len(), of_user.delay_s), (2, 5));
        let of_admin = plan_batches(carriers(), "new", &request, LIMITS, true);
        assert_eq!((of_admin.batches.len(), of_admin.delay_s), (1, 0));
        let small =
            ReapplyRequest { batch_size: Some(1), batch_delay_s: Some(9), ..ReapplyRequest::default() };
        let small = plan_batches(carriers(), "new", &small, LIMITS, false);
        assert_eq!((small.batches.len(), small.delay_s), (3, 9));
    }
}
