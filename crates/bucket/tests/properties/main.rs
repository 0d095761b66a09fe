//! What the arithmetic promises, checked on every limit of the Wildberries API and on random ones.

mod change;
mod feedback;
mod pace;
mod policies;
mod policy_text;
mod quota;
mod script;
mod spacing;
mod strict_upstream;
mod wait;
mod window;
