//! A message, ready for its channel.

/// A message. A chat gets only the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The subject, one line.
    pub subject: String,
    /// The whole content as plain text.
    pub text: String,
    /// The same content as HTML; empty for a chat.
    pub html: String,
    /// The chart in the HTML, a PNG; `None` without one.
    pub chart: Option<Vec<u8>>,
}
