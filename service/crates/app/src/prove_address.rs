//! Proofs of the address in chips' URLs. They are stored in the database, so that every node knows
//! them.

use std::net::UdpSocket;

use url::{Host, Url};

use crate::service::Service;
use crate::tag_address::{Opened, TagAddress, is_reachable_by_others};
use domain::tag_url::{TagUrlCheck, TagUrlReason, TagUrlState};
use storage::StorageError;

/// Opens a test URL through `tag_url`, and stores the result.
pub async fn check(service: &Service, tag_url: String) -> Result<TagUrlCheck, StorageError> {
    let mut opened = open(service, &tag_url).await;
    if let Opened::Failed(TagUrlReason::OtherServer, _) = opened
        && let Some(own) = at_own_path(&tag_url)
        && open(service, &own).await == Opened::Ours
    {
        let why = format!("Tapdesk answers at {own}, and not at {tag_url}. Use {own}.");
        opened = Opened::Failed(TagUrlReason::Path, why);
    }
    let (state, reason, detail) = match opened {
        Opened::Ours => {
            let mut detail =
                format!("A test page was opened at {tag_url}: it leads to this service.");
            if is_of_this_computer(&tag_url) {
                detail.push_str(FROM_WITHIN);
            }
            (TagUrlState::Proved, None, detail)
        }
        Opened::Failed(reason, why) => (TagUrlState::Failed, Some(reason), why),
    };
    keep(service, tag_url, (state, reason, detail)).await
}

/// Opens a test URL through `tag_url`.
pub async fn open(service: &Service, tag_url: &str) -> Opened {
    let TagAddress { door, probes, .. } = &service.tag_address;
    let (segment, answer) = probes.check(&*service.entropy);
    door.open(tag_url, &segment, &answer).await
}

/// The address at the same host where this service answers without a proxy that changes paths.
fn at_own_path(tag_url: &str) -> Option<String> {
    let mut own = Url::parse(tag_url).ok()?;
    own.set_path("/t");
    let own = String::from(own);
    (own != tag_url).then_some(own)
}

/// Records that a phone opened the test URL of `tag_url` through it.
pub async fn proved_by_phone(service: &Service, tag_url: &str) -> Result<(), StorageError> {
    let how = format!("A phone opened the test page at {tag_url}.");
    proved(service, tag_url, how).await
}

/// Records that a chip was tapped through `tag_url`, and that its code verified.
pub async fn proved_by_tap(service: &Service, tag_url: &str) -> Result<(), StorageError> {
    let how = format!("A chip was tapped at {tag_url}, and its code verified.");
    proved(service, tag_url, how).await
}

/// Stores a proof from a visit. An existing proof is not stored again, so that visits do not cause
/// writes.
async fn proved(service: &Service, tag_url: &str, how: String) -> Result<(), StorageError> {
    // The epoch is read first, so that a later check makes this proof invalid.
    let epoch = service.storage.configuration_epoch();
    let checks = service.storage.tag_url_checks().await?;
    let known = checks.iter().find(|check| check.tag_url == tag_url);
    let is_proved = known.is_some_and(|check| {
        check.state == TagUrlState::Proved && !check.detail.ends_with(FROM_WITHIN)
    });
    if is_proved {
        service.tag_address.know(tag_url, epoch);
        return Ok(());
    }
    let outcome = (TagUrlState::Proved, None, how);
    keep(service, tag_url.to_owned(), outcome).await.map(drop)
}

/// The limit of a check in which this computer opens one of its own addresses.
const FROM_WITHIN: &str = " It was opened from this computer, and a firewall may still keep phones out: open the code with one to be sure.";

/// Whether the host is an address of this computer: then the check involves no proxy or firewall
/// between it and phones.
fn is_of_this_computer(tag_url: &str) -> bool {
    let url = Url::parse(tag_url).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Ipv4(address)) => UdpSocket::bind((address, 0)).is_ok(),
        Some(Host::Ipv6(address)) => UdpSocket::bind((address, 0)).is_ok(),
        _ => false,
    }
}

/// Why the present address in chips' URLs is not proved, in words; `None` if it is proved.
pub(crate) async fn why_not_proved(service: &Service) -> Result<Option<String>, StorageError> {
    let tag_url = &service.settings().tag_url;
    let checks = service.storage.tag_url_checks().await?;
    let known = checks.into_iter().find(|check| check.tag_url == *tag_url);
    Ok(match known {
        None => Some(format!(
            "Nobody has checked yet whether phones reach {tag_url}."
        )),
        Some(check) if check.state == TagUrlState::Failed => Some(check.detail),
        Some(_) => None,
    })
}

/// The URL with which a phone proves `tag_url`; `None` if no phone can open the address.
pub async fn phone_url(service: &Service, tag_url: &str) -> Result<Option<String>, StorageError> {
    if !is_reachable_by_others(tag_url) {
        return Ok(None);
    }
    let now = service.storage.now().await?;
    let end = service.tag_address.probes.phone(tag_url, now);
    Ok(Some(format!("{tag_url}/{end}")))
}

async fn keep(
    service: &Service,
    tag_url: String,
    (state, reason, detail): (TagUrlState, Option<TagUrlReason>, String),
) -> Result<TagUrlCheck, StorageError> {
    let check = TagUrlCheck {
        tag_url,
        state,
        reason,
        detail,
        checked_at: service.storage.now().await?,
    };
    service.storage.note_tag_url_check(check.clone()).await?;
    Ok(check)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_a_computer_opens_at_itself_says_nothing_of_its_firewall() {
        assert!(is_of_this_computer("http://127.0.0.1:8787/t"));
        assert!(!is_of_this_computer("http://203.0.113.7:8787/t"));
        assert!(!is_of_this_computer("https://tags.example/t"));
    }

    #[test]
    fn the_own_path_is_tried_where_the_typed_one_is_another() {
        let own = Some("https://tags.example/t".to_owned());
        assert_eq!(at_own_path("https://tags.example/shop"), own);
        assert_eq!(at_own_path("https://tags.example"), own);
        assert_eq!(at_own_path("https://tags.example/t"), None);
    }
}
