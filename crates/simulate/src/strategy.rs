use std::{sync::Arc, time::Duration};

use waitless_job::{BucketKey, Cost, Feedback, Handlers, Job, JobContext, NameError, Permit};

use crate::{
    options::Strategy,
    probes::Probes,
    request::{KIND, Request},
    upstream::Upstream,
    window::Answer,
};

/// Where a handler sends its request and where it notes waits.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) probes: Arc<Probes>,
}

impl Strategy {
    pub(crate) fn handlers(self, world: World) -> Result<Handlers, NameError> {
        Handlers::new().with(KIND, move |job: Job<Request>, ctx: JobContext| {
            let world = world.clone();
            async move {
                loop {
                    let permit = self.permit(&ctx, job.args.group.as_str()).await?;
                    let answer = world.send(&job, &ctx, permit).await?;
                    if matches!(answer, Answer::Accepted { .. }) {
                        return Ok(());
                    }
                }
            }
        })
    }

    async fn permit(self, ctx: &JobContext, group: &str) -> Result<Permit, waitless_job::Leave> {
        match self {
            Self::Lanes => ctx.permit(group).await,
            Self::Naive => ctx.try_permit(group).await?.map_err(|wait_ms| ctx.snooze(wait_ms)),
            Self::Blocking => loop {
                match ctx.try_permit(group).await? {
                    Ok(permit) => return Ok(permit),
                    Err(wait_ms) => tokio::time::sleep(Duration::from_millis(wait_ms)).await,
                }
            },
        }
    }
}

impl World {
    async fn send(
        &self,
        job: &Job<Request>,
        ctx: &JobContext,
        permit: Permit,
    ) -> Result<Answer, waitless_job::Leave> {
        let sent = permit.spend(ctx.now())?;
        if let Some(probe) = job.args.probe {
            self.probes.sent(probe, sent.sent_at);
        }
        let group = job.args.group.clone();
        let bucket = BucketKey { account: job.account().clone(), group: group.clone() };
        let answer = self.upstream.request(&bucket, sent.sent_at).await;
        let sent_at = sent.sent_at;
        let feedback = match answer {
            Answer::Accepted { remaining } => {
                Feedback::Accepted { remaining, in_flight: 0, sent_at }
            }
            Answer::Refused { wait_ms } => Feedback::Rejected {
                until: wait_ms.map(|wait_ms| ctx.now().plus(wait_ms)),
                refund: Some(Cost::ONE),
                sent_at,
            },
        };
        ctx.report(&group, feedback).await?;
        Ok(answer)
    }
}
