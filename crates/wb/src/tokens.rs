use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use waitless_job::AccountId;

use crate::SellerToken;

/// The sellers' tokens, by account, in the memory of this process only: jobs name an account and
/// carry no secret. Clones share one table, so a token can be replaced while a worker runs.
#[derive(Debug, Clone, Default)]
pub struct Tokens(Arc<RwLock<HashMap<AccountId, SellerToken>>>);

impl Tokens {
    /// No tokens.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a token. Of several of one seller the last counts; they share one quota anyway.
    pub fn put(&self, token: SellerToken) {
        // A panic under the lock leaves a whole table behind.
        let mut tokens = self.0.write().unwrap_or_else(PoisonError::into_inner);
        tokens.insert(token.account().clone(), token);
    }

    /// The token of an account.
    #[must_use]
    pub fn get(&self, account: &AccountId) -> Option<SellerToken> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(account).cloned()
    }
}
