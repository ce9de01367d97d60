//! Which instances a module is applied to again, and how many at a time.

use crate::input::ReapplyRequest;

/// Someone who carries the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carrier<T> {
    pub node: T,
    /// As applied there.
    pub md5: String,
    /// Whether the module may still be applied there.
    pub fits: bool,
}

/// What an operator allows users; admins may exceed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub batch_size: u64,
    pub batch_delay_s: u64,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batches<T> {
    pub batches: Vec<Vec<T>>,
    /// The pause after each of them.
    pub delay_s: u64,
    /// Those that have the present contents already.
    pub n_current: usize,
    /// Those it no longer fits.
    pub n_unfit: usize,
}

/// Those that need it, in the order given.
pub fn plan<T>(
    carriers: Vec<Carrier<T>>,
    present_md5: &str,
    request: &ReapplyRequest,
    limits: Limits,
    is_admin: bool,
) -> Batches<T> {
    let size = request.batch_size.unwrap_or(limits.batch_size);
    let delay = request.batch_delay_s.unwrap_or(limits.batch_delay_s);
    let (size, delay_s) =
        if is_admin { (size, delay) } else { (size.min(limits.batch_size), delay.max(limits.batch_delay_s)) };
    let mut planned = Batches { batches: Vec::new(), delay_s, n_current: 0, n_unfit: 0 };
    let mut chosen = Vec::new();
    for carrier in carriers {
        if request.md5.as_ref().is_some_and(|wanted| !wanted.eq_ignore_ascii_case(&carrier.md5)) {
            continue;
        }
        if carrier.md5 == present_md5 && !request.force {
            planned.n_current += 1;
        } else if carrier.fits {
            chosen.push(carrier.node);
        } else {
            planned.n_unfit += 1;
        }
    }
    let size = usize::try_from(size.max(1)).unwrap_or(usize::MAX);
    let mut chosen = chosen.into_iter().peekable();
    while chosen.peek().is_some() {
        planned.batches.push(chosen.by_ref().take(size).collect());
    }
    planned
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { batch_size: 2, batch_delay_s: 5 };

    fn carriers() -> Vec<Carrier<u32>> {
        let of = |node, md5: &str, fits| Carrier { node, md5: md5.to_owned(), fits };
        vec![
            of(1, "old", true),
            of(2, "new", true),
            of(3, "old", false),
            of(4, "older", true),
            of(5, "old", true),
        ]
    }

    #[test]
    fn only_those_that_need_it_are_taken() {
        let request = ReapplyRequest::default();
        let planned = plan(carriers(), "new", &request, LIMITS, false);
        assert_eq!(planned.batches, [vec![1, 4], vec![5]]);
        assert_eq!((planned.n_current, planned.n_unfit, planned.delay_s), (1, 1, 5));
        let forced = ReapplyRequest { force: true, ..ReapplyRequest::default() };
        assert_eq!(plan(carriers(), "new", &forced, LIMITS, false).batches.concat(), [1, 2, 4, 5]);
        let some = ReapplyRequest { md5: Some("OLD".to_owned()), ..ReapplyRequest::default() };
        assert_eq!(plan(carriers(), "new", &some, LIMITS, false).batches.concat(), [1, 5]);
        assert!(plan(Vec::<Carrier<u32>>::new(), "new", &request, LIMITS, true).batches.is_empty());
    }

    #[test]
    fn users_keep_within_the_limits_and_admins_need_not() {
        let request =
            ReapplyRequest { batch_size: Some(100), batch_delay_s: Some(0), ..ReapplyRequest::default() };
        let of_user = plan(carriers(), "new", &request, LIMITS, false);
        assert_eq!((of_user.batches.len(), of_user.delay_s), (2, 5));
        let of_admin = plan(carriers(), "new", &request, LIMITS, true);
        assert_eq!((of_admin.batches.len(), of_admin.delay_s), (1, 0));
        let small =
            ReapplyRequest { batch_size: Some(1), batch_delay_s: Some(9), ..ReapplyRequest::default() };
        let small = plan(carriers(), "new", &small, LIMITS, false);
        assert_eq!((small.batches.len(), small.delay_s), (3, 9));
    }
}
