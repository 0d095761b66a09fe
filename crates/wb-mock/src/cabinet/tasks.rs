//! Reports that are ordered, waited for and fetched.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Duration, Utc};
use serde_json::json;

use super::owner::{Owner, Subject};
use super::refusal::Refusal;
use crate::drawer::{Question, Reply, TaskFate};

/// How long a report is kept, at speed 1.
const KEPT_SECONDS: i64 = 2 * 3600;

/// The tasks of one kind of report. `About` is what a report was ordered about.
#[derive(Debug)]
pub(crate) struct Tasks<About> {
    owner: Owner,
    /// Keeps apart the draws of different kinds.
    kind: u64,
    made: Mutex<HashMap<String, Task<About>>>,
}

#[derive(Debug)]
struct Task<About> {
    about: About,
    /// When its status changes from `new` to `processing`.
    begins_at: DateTime<Utc>,
    /// When it changes from that to `done`.
    ends_at: DateTime<Utc>,
    fate: Option<TaskFate>,
}

impl<About: Clone> Tasks<About> {
    pub(crate) fn new(owner: Owner, kind: u64) -> Self {
        Self { owner, kind, made: Mutex::default() }
    }

    /// Orders a report and answers with the task's id.
    pub(crate) fn create(&self, about: About, question: &Question) -> Reply {
        let mut made = self.made();
        let mut dice = self.owner.dice(Subject::Task, [self.kind, made.len() as u64]);
        let id = dice.uuid();
        let begins_at = question.now + self.owner.sped_up_ms(dice.within(0..=2_000));
        let ends_at = begins_at + self.owner.sped_up_ms(dice.within(1_000..=15_000));
        let reply = Reply::Json(json!({"data": {"taskId": id}}));
        made.insert(id, Task { about, begins_at, ends_at, fate: question.fate });
        reply
    }

    /// Answers how far a task is.
    pub(crate) fn status(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&[])?;
        let id = question.place("task_id");
        let status = self.status_of(id, question)?;
        Ok(Reply::Json(json!({"data": {"id": id, "status": status}})))
    }

    /// What a finished report is about.
    pub(crate) fn fetch(&self, question: &Question) -> Result<About, Refusal> {
        question.only(&[])?;
        let id = question.place("task_id");
        let mut made = self.made();
        let task = self.known(&mut made, id, question)?;
        if matches!(task.fate, Some(TaskFate::Purged | TaskFate::Canceled)) {
            return Err(no_such_task(id));
        }
        if question.now < task.ends_at {
            return Err(Refusal::bad("the report is not ready"));
        }
        Ok(task.about.clone())
    }

    fn status_of(&self, id: &str, question: &Question) -> Result<&'static str, Refusal> {
        let mut made = self.made();
        let task = self.known(&mut made, id, question)?;
        Ok(match task.fate {
            Some(TaskFate::Purged) => "purged",
            Some(TaskFate::Canceled) => "canceled",
            Some(TaskFate::Unknown) => {
                // Once. The task goes on.
                task.fate = None;
                "postponed"
            }
            _ if question.now < task.begins_at => "new",
            _ if question.now < task.ends_at => "processing",
            _ => "done",
        })
    }

    /// The task, with what the question brings upon it, unless it is forgotten.
    fn known<'a>(
        &self,
        made: &'a mut HashMap<String, Task<About>>,
        id: &str,
        question: &Question,
    ) -> Result<&'a mut Task<About>, Refusal> {
        let kept = self.owner.kept_seconds(KEPT_SECONDS);
        let task = made.get_mut(id).ok_or_else(|| no_such_task(id))?;
        task.fate = question.fate.or(task.fate);
        if task.fate == Some(TaskFate::Expired) || question.now >= task.ends_at + kept {
            return Err(no_such_task(id));
        }
        Ok(task)
    }

    fn made(&self) -> MutexGuard<'_, HashMap<String, Task<About>>> {
        // A panic under the lock would have left whole tasks behind.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Owner {
    /// So many milliseconds of the upstream's work.
    pub(super) fn sped_up_ms(&self, ms: u64) -> Duration {
        Duration::microseconds(ms as i64 * 1000 / i64::from(self.speed))
    }

    /// How long reports are kept. At least 5 seconds, whatever the speed: networks do not get
    /// faster.
    pub(super) fn kept_seconds(&self, seconds: i64) -> Duration {
        Duration::seconds((seconds / i64::from(self.speed)).max(5))
    }
}

fn no_such_task(id: &str) -> Refusal {
    Refusal::unknown(format!("task {id:?} is unknown"))
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::super::owner::tests::owner;
    use super::*;

    /// A question about that task, so many milliseconds after the start.
    fn question(task: &str, ms: i64, fate: Option<TaskFate>) -> Question {
        Question {
            places: [("task_id".to_owned(), task.to_owned())].into(),
            now: owner(0).started + Duration::milliseconds(ms),
            fate,
            ..Question::default()
        }
    }

    fn tasks(speed: u32) -> Tasks<u64> {
        Tasks::new(Owner { speed, ..owner(0) }, 0)
    }

    fn created(tasks: &Tasks<u64>, about: u64, fate: Option<TaskFate>) -> String {
        match tasks.create(about, &question("", 0, fate)) {
            Reply::Json(body) => body["data"]["taskId"].as_str().expect("an id").to_owned(),
            other => panic!("{other:?}"),
        }
    }

    fn status(tasks: &Tasks<u64>, question: &Question) -> Result<&'static str, StatusCode> {
        tasks.status_of(question.place("task_id"), question).map_err(|refusal| refusal.status)
    }

    fn fetched(tasks: &Tasks<u64>, question: &Question) -> Result<u64, StatusCode> {
        tasks.fetch(question).map_err(|refusal| refusal.status)
    }

    #[test]
    fn a_task_is_new_then_in_work_then_done_and_forgotten_after_two_hours() {
        let tasks = tasks(1);
        let task = created(&tasks, 7, None);
        let at = |ms| question(&task, ms, None);
        let seen: Vec<_> = (0..=17).map(|second| status(&tasks, &at(second * 1000))).collect();
        let mut changes = seen.clone();
        changes.dedup();
        assert!(changes.ends_with(&[Ok("processing"), Ok("done")]), "{changes:?}");
        let ready = seen.iter().filter(|status| **status != Ok("done")).count() as i64 * 1000;
        assert_eq!(fetched(&tasks, &at(ready - 1000)), Err(StatusCode::BAD_REQUEST));
        assert_eq!(fetched(&tasks, &at(ready)), Ok(7));
        assert_eq!(fetched(&tasks, &at(7_200_000)), Ok(7));
        assert_eq!(fetched(&tasks, &at(7_217_000)), Err(StatusCode::NOT_FOUND));
        assert_eq!(status(&tasks, &at(7_217_000)), Err(StatusCode::NOT_FOUND));
    }

    #[test]
    fn tasks_are_made_and_forgotten_faster_at_higher_speed_but_kept_for_5_seconds() {
        for (speed, ready, kept, gone) in
            [(10, 1_700, 720_000, 722_000), (60_000_000, 1, 5_000, 5_001)]
        {
            let tasks = tasks(speed);
            let task = created(&tasks, 7, None);
            assert_eq!(fetched(&tasks, &question(&task, ready, None)), Ok(7));
            assert_eq!(fetched(&tasks, &question(&task, kept, None)), Ok(7));
            let late = fetched(&tasks, &question(&task, gone, None));
            assert_eq!(late, Err(StatusCode::NOT_FOUND));
        }
    }

    #[test]
    fn what_is_brought_upon_a_task_stays_upon_it() {
        let not_found = Err(StatusCode::NOT_FOUND);
        for (fate, later) in [
            (TaskFate::Purged, Ok("purged")),
            (TaskFate::Canceled, Ok("canceled")),
            (TaskFate::Expired, not_found),
        ] {
            let tasks = tasks(1);
            let from_the_start = created(&tasks, 7, Some(fate));
            let by_a_question = created(&tasks, 8, None);
            assert_eq!(status(&tasks, &question(&by_a_question, 20_000, None)), Ok("done"));
            assert_eq!(status(&tasks, &question(&by_a_question, 20_000, Some(fate))), later);
            for task in [from_the_start, by_a_question] {
                assert_eq!(status(&tasks, &question(&task, 20_000, None)), later);
                let late = fetched(&tasks, &question(&task, 20_000, None));
                assert_eq!(late, Err(StatusCode::NOT_FOUND));
            }
        }
    }

    #[test]
    fn a_status_that_nobody_knows_comes_once_and_the_task_goes_on() {
        let tasks = tasks(1);
        let task = created(&tasks, 7, None);
        let unknown = question(&task, 20_000, Some(TaskFate::Unknown));
        assert_eq!(status(&tasks, &unknown), Ok("postponed"));
        assert_eq!(status(&tasks, &question(&task, 20_000, None)), Ok("done"));
        assert_eq!(fetched(&tasks, &question(&task, 20_000, None)), Ok(7));
    }
}
