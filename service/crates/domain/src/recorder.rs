//! The author of a record, in the words of the audit log.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The sender of the request that recorded something. It is a copy: a token may be deleted later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Recorder {
    /// `token` for a stored token, `phone` for a staff phone. For the installation's own token:
    /// `desktop`, `encoder`, `command_line`, or `installation` for any other program.
    pub kind: String,
    /// The id of the stored token or of the phone. It may have been deleted since.
    pub id: Option<i64>,
    /// The name that the token or the phone had at that time.
    pub name: Option<String>,
}

impl Recorder {
    /// The author for an actor of the audit log, such as `token:3` or `desktop`, with its name.
    pub fn of_actor(actor: &str, name: Option<String>) -> Self {
        let (kind, id) = match actor.split_once(':') {
            Some((kind, id)) => (kind, id.parse().ok()),
            None => (actor, None),
        };
        Self {
            kind: kind.to_owned(),
            id,
            name,
        }
    }

    /// The author for people: the name of a token or a phone, or a part of the application.
    pub fn words(&self) -> &str {
        let unnamed = match &*self.kind {
            "desktop" => "Desktop",
            "encoder" => "Encoder",
            "command_line" => "Command line",
            "installation" => "Program",
            other => other,
        };
        self.name.as_deref().unwrap_or(unnamed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_author_is_named_as_the_audit_log_names_actors() {
        let token = Recorder::of_actor("token:3", Some("Goods-in".to_owned()));
        assert_eq!((&*token.kind, token.id), ("token", Some(3)));
        assert_eq!(token.words(), "Goods-in");
        let desktop = Recorder::of_actor("desktop", None);
        assert_eq!((&*desktop.kind, desktop.id), ("desktop", None));
        assert_eq!(desktop.words(), "Desktop");
        assert_eq!(Recorder::of_actor("later", None).words(), "later");
    }
}
