//! A bureau's report about an order: each chip becomes the inlay of its position's tag.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::EncodeError;
use super::order::{apart, form_of, of_slug, whole};
use crate::service::Service;
use domain::id::FactoryOrderId;
use domain::inventory::{InlayFields, NewInlay, SealedKey, SealedKeys};
use encoding::order::OrderPosition;
use encoding::{Form, Plan};
use inlay::Uid;
use inlay::ev2::KEYS;
use inlay::key::AesKey;
use inlay::technology::ntag424::file_settings::{FILE_SLOT, META_SLOT};
use inlay::template::Request;
use storage::{CameBack, Taken, WrappedSet};

/// Chips in one commit. It is small so that taps need not wait long.
const AT_ONCE: usize = 100;

/// A row of a bureau's report.
#[derive(Clone, Debug, Default)]
pub struct Reported {
    /// UID of the chip.
    pub uid: Option<Uid>,
    /// The position, by its number.
    pub position: Option<u32>,
    /// The position, by the slug of its tag.
    pub slug: Option<String>,
    /// The position, by a URL of its chip. If the URL has a code, the row is a sample, and the code
    /// is checked.
    pub url: Option<String>,
    /// The highest counter that the chip is known to have reached.
    pub counter: u32,
}

/// The result of a row.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The position that the row is about.
    pub position: Option<u32>,
    /// Whether its URL had a valid code.
    pub proved: bool,
    /// The action that was taken, or why none was, in words.
    pub outcome: Result<Taken, String>,
}

/// Takes a bureau's report. Returns the result of each row, and the positions that have no chip
/// afterwards.
pub async fn receive_order(
    service: &Arc<Service>,
    id: FactoryOrderId,
    reported: Vec<Result<Reported, String>>,
    dry_run: bool,
) -> Result<(Vec<Settled>, Vec<u32>), EncodeError> {
    let (order, positions) = whole(service, id).await?;
    let form = form_of(service, &order.plan).await?;
    let keys = service.storage.factory_order_keys(id).await?;
    let read = move |service: &Service| {
        let (settled, chips) = Report::new(service, &positions, form, &keys).read_all(reported);
        Ok((positions, settled, chips))
    };
    let (positions, mut settled, chips) = apart(service, read).await?;
    for some in chips.chunks(AT_ONCE) {
        let came = some.iter().map(|(_, chip)| chip.clone()).collect();
        let taken = service.storage.receive_chips(id, came, dry_run).await?;
        for ((index, _), taken) in some.iter().zip(taken) {
            settled[*index].outcome = taken.map_err(|conflict| conflict.to_string());
        }
    }
    let done = settled.iter().filter(|row| row.outcome.is_ok());
    let done: HashSet<_> = done.filter_map(|row| row.position).collect();
    let missing = positions
        .iter()
        .filter(|position| position.uid.is_none() && !done.contains(&position.position));
    let missing = missing.map(|position| position.position).collect();
    Ok((settled, missing))
}

/// A chip of a report, and the index of its row in the results.
type Numbered = (usize, CameBack);

/// An order while rows about it are read.
struct Report<'a> {
    service: &'a Service,
    positions: &'a [OrderPosition],
    /// The index of each position in `positions`, by its number and by its slug. Slugs that differ
    /// only in case have one entry in lower case.
    by_number: HashMap<u32, usize>,
    by_slug: HashMap<String, Vec<usize>>,
    form: Form,
    /// A plan with an example slug, which finds the slug in a URL.
    any: Option<Plan>,
    keys: &'a [WrappedSet],
}

impl<'a> Report<'a> {
    fn new(
        service: &'a Service,
        positions: &'a [OrderPosition],
        form: Form,
        keys: &'a [WrappedSet],
    ) -> Self {
        let numbered = || positions.iter().zip(0..);
        let mut by_slug = HashMap::<_, Vec<_>>::new();
        for (position, at) in numbered() {
            let slug = position.slug.to_ascii_lowercase();
            by_slug.entry(slug).or_default().push(at);
        }
        Self {
            service,
            positions,
            by_number: numbered()
                .map(|(position, at)| (position.position, at))
                .collect(),
            by_slug,
            any: Plan::new(&of_slug(&form, "x".to_owned())).ok(),
            form,
            keys,
        }
    }

    /// The result of each row, from the row and the order; and the chips to take, which the
    /// database may still refuse.
    fn read_all(&self, reported: Vec<Result<Reported, String>>) -> (Vec<Settled>, Vec<Numbered>) {
        let mut settled = Vec::with_capacity(reported.len());
        let mut chips: Vec<Numbered> = Vec::new();
        let (mut uids, mut taken) = (HashSet::new(), HashSet::new());
        for (index, row) in reported.into_iter().enumerate() {
            let (position, proved, outcome) = match row.and_then(|row| self.read(&row)) {
                Ok((chip, proved)) => {
                    let (uid, position) = (chip.inlay.uid, chip.position);
                    let outcome = if uids.contains(&uid) || taken.contains(&position) {
                        Err("Another row has the same chip, or the same position.".to_owned())
                    } else {
                        uids.insert(uid);
                        taken.insert(position);
                        chips.push((index, chip));
                        Ok(Taken::Bound)
                    };
                    (Some(position), proved, outcome)
                }
                Err(why) => (None, false, Err(why)),
            };
            settled.push(Settled {
                position,
                proved,
                outcome,
            });
        }
        (settled, chips)
    }

    fn read(&self, row: &Reported) -> Result<(CameBack, bool), String> {
        let uid = row.uid.ok_or("The row has no UID.")?;
        if uid.bytes()[0] != 0x04 {
            return Err("The UID is not one of NXP, whose UIDs begin with 04.".to_owned());
        }
        let (position, set) = self.position(row)?;
        let form = of_slug(&self.form, position.slug.clone());
        let plan = Plan::new(&form).map_err(|why| why.to_string())?;
        let key = |slot: u8| -> Result<AesKey, String> {
            let wrapped = &set[usize::from(slot % KEYS)];
            self.service
                .keyring
                .unwrap(wrapped)
                .map_err(|why| why.to_string())
        };
        let keys = plan.keys(key(META_SLOT)?, key(FILE_SLOT)?);
        let mut counter = row.counter;
        let sample = row.url.as_ref().filter(|url| has_code(&plan, url));
        if let Some(url) = sample {
            let proof = plan.prove_url(url.clone(), uid, &keys).ok_or(
                "The code in its URL is not one of this chip with the keys of its position.",
            )?;
            counter = counter.max(proof.counter);
        }
        let seal = |key: &AesKey| {
            SealedKey::seal(key, &self.service.keyring, &*self.service.entropy)
                .map_err(|why| why.to_string())
        };
        let fields = InlayFields {
            technology: form.template.technology,
            mode: form.template.mode,
            url_template_id: form.url_template_id,
            tag_id: Some(position.tag_id),
            mirror: form.mirror,
            mac_from: form.mac_from,
            keys: Some(SealedKeys::Own {
                meta: keys.meta.as_ref().map(seal).transpose()?,
                file: seal(&keys.file)?,
            }),
            other_keys: None,
            blocked_at: None,
        };
        let chip = CameBack {
            position: position.position,
            inlay: NewInlay {
                uid,
                fields,
                simulated: false,
                last_counter: counter,
            },
        };
        Ok((chip, sample.is_some()))
    }

    /// The position of a row. Everything that the row states must identify the same one.
    fn position(&self, row: &Reported) -> Result<(&OrderPosition, &WrappedSet), String> {
        let of_url = match &row.url {
            Some(url) => Some(
                self.slug_of(url)
                    .ok_or_else(|| format!("{url} is not a URL of this order."))?,
            ),
            None => None,
        };
        let slugs: Vec<_> = row.slug.iter().chain(of_url.iter()).collect();
        let at = match (row.position, slugs.first()) {
            (Some(number), _) => self.by_number.get(&number).copied(),
            (None, Some(slug)) => self.by_slug(slug),
            (None, None) => {
                return Err(
                    "The row names no position: it needs a position, a slug or a URL.".to_owned(),
                );
            }
        };
        let found = at.and_then(|at| Some((self.positions.get(at)?, self.keys.get(at)?)));
        let of_all = |position: &OrderPosition| {
            let mut slugs = slugs.iter();
            slugs.all(|slug| position.slug.eq_ignore_ascii_case(slug))
        };
        found
            .filter(|(position, _)| of_all(position))
            .ok_or_else(|| "The order has no such position.".to_owned())
    }

    /// The position with this slug, or with the only one that is the same but for case.
    fn by_slug(&self, slug: &str) -> Option<usize> {
        let alike = self.by_slug.get(&slug.to_ascii_lowercase())?;
        let is_exact = |at: &&usize| self.positions.get(**at).is_some_and(|of| of.slug == slug);
        let only = || alike.first().filter(|_| alike.len() == 1);
        alike.iter().find(is_exact).or_else(only).copied()
    }

    /// The slug in a URL of a chip, or of its tag.
    fn slug_of(&self, url: &str) -> Option<String> {
        let request = Request::of_url(url)?;
        if let Some(read) = self.any.as_ref()?.template().read(&request) {
            return read.slug;
        }
        let tag_url = &self.service.settings().tag_url;
        let slug = url.strip_prefix(&**tag_url)?.strip_prefix('/')?;
        let slug = slug.split(['?', '#']).next()?;
        Some(slug.to_owned())
    }
}

/// Whether a URL has a code, valid or not.
fn has_code(plan: &Plan, url: &str) -> bool {
    let read = Request::of_url(url).and_then(|request| plan.template().read(&request));
    read.is_some_and(|read| !matches!(read.code, Ok(None)))
}
