//! The press of the button that pairs a phone.
//!
//! A person presses twice, and the browser then keeps only the answer to the second press. So both
//! presses of one page have the same secrets, and the second one has the answer of the first.

use crate::service::Service;
use domain::phone::{PAIRING, PairedPhone, PhoneSecret, PhoneState};
use storage::StorageError;

/// The secrets that a press gives to a phone.
pub struct Press {
    /// The value of the cookie.
    pub secret: PhoneSecret,
    /// The code for another host.
    pub next: PhoneSecret,
}

impl Press {
    /// The press of the button of one page with this code. `page` is a random text of that page.
    pub fn of(service: &Service, code: &PhoneSecret, page: &PhoneSecret) -> Self {
        let secret = |purpose: &str| {
            let text = format!("{purpose}:{}:{}", code.expose(), page.expose());
            PhoneSecret::of_bytes(service.staff_forms.bytes_of(&text))
        };
        Self {
            secret: secret("cookie"),
            next: secret("next"),
        }
    }

    /// The phone that the same press has paired already. `None` if there is none, or its code would
    /// have expired since.
    pub async fn phone(&self, service: &Service) -> Result<Option<PairedPhone>, StorageError> {
        let hash = self.secret.hash();
        let phones = service.storage.paired_phones().await?;
        let paired = phones
            .into_iter()
            .find(|paired| paired.cookies.hashes().any(|known| known == hash));
        let now = service.storage.now().await?;
        let is_fresh = |paired: &PairedPhone| {
            let phone = &paired.phone;
            let is_in_time = phone.paired_at.is_some_and(|at| now < at.plus(PAIRING));
            is_in_time && phone.state(now) == PhoneState::Active
        };
        Ok(paired.filter(is_fresh))
    }
}
