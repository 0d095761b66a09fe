use tokio::sync::watch;

/// How far a worker is on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Phase {
    /// Takes jobs.
    #[default]
    Working,
    /// Takes none; running ones may finish.
    Stopping,
    /// Running ones are handed back.
    HandingBack,
}

/// Where everybody reads the phase.
#[derive(Debug, Clone)]
pub(crate) struct Shutdown(watch::Receiver<Phase>);

impl Shutdown {
    pub(crate) fn channel() -> (watch::Sender<Phase>, Self) {
        let (sender, receiver) = watch::channel(Phase::default());
        (sender, Self(receiver))
    }

    pub(crate) fn is(&self, phase: Phase) -> bool {
        *self.0.borrow() >= phase
    }

    /// Resolves when this phase has begun.
    pub(crate) async fn reached(&self, phase: Phase) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|now| *now >= phase).await.is_err() {
            // The worker is gone without having said so; there is nothing left to wait for.
            std::future::pending::<()>().await;
        }
    }
}
