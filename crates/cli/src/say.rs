//! Speaking to people beside the data.

/// Says something on standard error. Unlike `eprintln!` it does not panic when nobody listens any
/// more, as behind `2>&1 | head`: an import is not worth less for that.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}
