//! How the message about a new epoch names the parts that changed: after the epoch, each with a space
//! before it. A message with nothing but the epoch names none, and then any part may have changed.

use crate::CachedPart;
use domain::id::{ExperienceId, GroupId, TagId};

/// Most parts that a message names. The server refuses messages of 8,000 bytes, and a name has up to
/// 21.
const PARTS_MAX: usize = 350;

/// The message about changed parts, without the epoch.
pub(in crate::postgres) fn of(changed: &[CachedPart]) -> String {
    if changed.len() > PARTS_MAX {
        return String::new();
    }
    // With the space, an epoch without changed parts differs from one with unknown parts.
    let names: Vec<_> = changed.iter().map(|part| name(*part)).collect();
    format!(" {}", names.join(" "))
}

/// The epoch of a message, and the parts that it names, if it names any; `None` if it is no message
/// about an epoch.
pub(in crate::postgres) fn read(message: &str) -> Option<(u64, Option<Vec<CachedPart>>)> {
    let Some((epoch, names)) = message.split_once(' ') else {
        return Some((message.parse().ok()?, None));
    };
    // A node of a newer version may name parts that this one does not know.
    let parts = names.split_whitespace().map(part).collect();
    Some((epoch.parse().ok()?, parts))
}

fn name(part: CachedPart) -> String {
    match part {
        CachedPart::Tag(id) => format!("t{id}"),
        CachedPart::Experience(id) => format!("e{id}"),
        CachedPart::Group(id) => format!("g{id}"),
        CachedPart::UrlTemplates => "u".to_owned(),
        CachedPart::Phones => "p".to_owned(),
        CachedPart::Settings => "s".to_owned(),
    }
}

fn part(name: &str) -> Option<CachedPart> {
    let (kind, id) = name.split_at_checked(1)?;
    let id = || id.parse::<i64>().ok();
    Some(match kind {
        "t" => CachedPart::Tag(TagId::try_from(id()?).ok()?),
        "e" => CachedPart::Experience(ExperienceId::try_from(id()?).ok()?),
        "g" => CachedPart::Group(GroupId::try_from(id()?).ok()?),
        "u" => CachedPart::UrlTemplates,
        "p" => CachedPart::Phones,
        "s" => CachedPart::Settings,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_parts_that_changed() {
        let parts = [
            CachedPart::Tag(TagId::new(7)),
            CachedPart::Experience(ExperienceId::new(8)),
            CachedPart::Group(GroupId::new(9)),
            CachedPart::UrlTemplates,
            CachedPart::Phones,
            CachedPart::Settings,
        ];
        for named in [&parts[..], &parts[..1], &parts[..0]] {
            let message = format!("12{}", of(named));
            assert_eq!(read(&message), Some((12, Some(named.to_vec()))));
        }
    }

    #[test]
    fn a_message_without_names_means_all_parts() {
        assert_eq!(read("12"), Some((12, None)));
        for unknown in ["12 t7 x1", "12 t0", "12 t"] {
            assert_eq!(read(unknown), Some((12, None)), "{unknown}");
        }
        assert_eq!(read("x"), None);
    }

    #[test]
    fn a_message_is_as_short_as_the_server_needs() {
        let longest = CachedPart::Tag(TagId::new(i64::MAX));
        let message = format!("{}{}", u64::MAX, of(&[longest; PARTS_MAX]));
        assert!(message.len() < 8_000, "{}", message.len());
        assert_eq!(of(&[longest; PARTS_MAX + 1]), "");
    }
}
