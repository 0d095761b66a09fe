//! Applying a sequence to two stores.

use std::{fmt, fmt::Debug, future::Future};

use proptest::test_runner::{Config, TestCaseError, TestRunner};

use waitless_job::LaneKey;

use super::{
    apply::{Answer, apply},
    course::Course,
    operation::{Operation, What},
    strategy::operations,
};
use crate::{
    MemoryStore, Store,
    fsck::{Finding, fsck},
    model::Audit,
};

/// Longest random sequence.
const OPERATIONS_MAX: usize = 80;

/// Where two stores part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// After which operation, from 0.
    pub after: usize,
    /// What that was.
    pub operation: String,
    /// In what they differ.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after operation {} ({}): {}", self.after, self.operation, self.what)
    }
}

/// Applies the operations to both stores, which must be fresh.
///
/// # Errors
/// The first [`Difference`]: after which operation the two answered or held something else, or
/// held something that is not sound.
///
/// # Panics
/// If a store cannot be read.
pub async fn compare(
    reference: &dyn Store,
    candidate: &dyn Store,
    operations: &[Operation],
) -> Result<(), Difference> {
    let mut course = Course::new();
    for (after, Operation { advance, what }) in operations.iter().enumerate() {
        course.advance(*advance);
        let expected = apply(what, &course, reference).await;
        let answered = apply(what, &course, candidate).await;
        let held = (audit(reference).await, audit(candidate).await);
        if let Some(difference) = difference(&expected, &answered, &held) {
            let operation = format!("{what:?} at {}", course.now);
            return Err(Difference { after, operation, what: difference });
        }
        learn(&mut course, what, expected);
    }
    Ok(())
}

/// Applies random sequences, `cases` of them, to fresh stores and to fresh reference stores.
///
/// `fresh` makes a store and what must live as long as it does. `file` is the calling test's
/// `file!()`: a sequence that was found to tell the stores apart is kept beside that file, as
/// `.proptest-regressions`, and tried first the next time. Keep it in the tree.
///
/// # Panics
/// With the shortest sequence found after which the stores differ.
pub fn agree<S, G, F>(cases: u32, file: &'static str, fresh: impl Fn() -> F)
where
    S: Store,
    F: Future<Output = (S, G)>,
{
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a test can have a runtime");
    let config = Config { cases, source_file: Some(file), ..Config::default() };
    let found = TestRunner::new(config).run(&operations(OPERATIONS_MAX), |operations| {
        runtime.block_on(async {
            let (store, guard) = fresh().await;
            let compared = compare(&MemoryStore::new(), &store, &operations).await;
            drop(store);
            drop(guard);
            compared.map_err(|difference| TestCaseError::fail(difference.to_string()))
        })
    });
    if let Err(found) = found {
        panic!("{found}");
    }
}

async fn audit(store: &dyn Store) -> Audit {
    store.audit().await.expect("a store can be read")
}

/// Takes down what later operations refer to.
fn learn(course: &mut Course, what: &What, answer: Answer) {
    match what {
        What::Enqueue(specs) => {
            course.used.extend(
                course.new_jobs(specs).iter().map(|job| LaneKey::of(&job.account, &job.needs)),
            );
            course.jobs += specs.iter().filter(|spec| spec.again.is_none()).count() as u64;
        }
        What::Claim(specs) => {
            course.leases += specs.iter().filter(|spec| spec.again.is_none()).count() as u64;
        }
        _ => {}
    }
    course.given.extend(answer.given);
    if let Some((due, next_at)) = answer.due {
        (course.due, course.next_at) = (due, next_at);
    }
}

fn difference(expected: &Answer, answered: &Answer, held: &(Audit, Audit)) -> Option<String> {
    if expected.text != answered.text {
        let (expected, answered) = (&expected.text, &answered.text);
        return Some(format!("the reference answered {expected}, the candidate {answered}"));
    }
    let (reference, candidate) = held;
    if reference != candidate {
        return Some(what_differs(reference, candidate));
    }
    let findings = fsck(candidate);
    findings.first().map(|Finding { rule, what }| format!("not sound: {rule}: {what}"))
}

fn what_differs(reference: &Audit, candidate: &Audit) -> String {
    fn part<T: PartialEq + Debug>(name: &str, reference: &T, candidate: &T) -> Option<String> {
        (reference != candidate).then(|| {
            format!("{name}: the reference holds {reference:?}, the candidate {candidate:?}")
        })
    }
    let (r, c) = (reference, candidate);
    let parts = [
        part("jobs", &r.jobs, &c.jobs),
        part("lanes", &r.lanes, &c.lanes),
        part("wait lists", &r.wait_lists, &c.wait_lists),
        part("delayed", &r.delayed, &c.delayed),
        part("leased", &r.leased, &c.leased),
        part("limits", &r.limits, &c.limits),
        part("buckets", &r.buckets, &c.buckets),
        part("accounts", &r.accounts, &c.accounts),
        part("enqueued", &r.enqueued, &c.enqueued),
        part("pruned", &r.pruned, &c.pruned),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
