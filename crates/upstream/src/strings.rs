/// Follows the strings of a JSON text, byte by byte.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    open: bool,
    escaped: bool,
}

impl Strings {
    /// Whether the last byte was inside of a string, which goes on.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// Takes the next byte; whether it belongs to a string, quotes included.
    pub(crate) fn holds(&mut self, byte: u8) -> bool {
        if !self.open {
            self.open = byte == b'"';
            return self.open;
        }
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => self.open = false,
            _ => {}
        }
        true
    }
}

/// White space as JSON has it.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
