//! Orders for an encoding bureau: what leaves, and what comes back.

use std::fmt::Write as _;

use zeroize::Zeroizing;

use super::{EncodeError, FormOptions, form};
use crate::encoding::order::{BUREAU_VERSION, Order, OrderPlan, OrderPosition};
use crate::encoding::{Form, Plan, Target};
use crate::entropy;
use crate::field_error::FieldError;
use crate::id::{FactoryOrderId, TagId};
use crate::inlay::ev2::KEYS;
use crate::inlay::key::AesKey;
use crate::inlay::technology::ntag424::file_settings::{FILE_SLOT, META_SLOT};
use crate::inlay::technology::{Family, Mode};
use crate::inlay::template::{EncodingSheet, Field, Request};
use crate::inlay::{Technology, Uid};
use crate::inventory::{InlayFields, NewInlay, SealedKey, SealedKeys};
use crate::service::Service;
use crate::storage::{CameBack, Conflict, NewOrder, StorageError, Taken, WrappedSet};

/// Longest row of the keys of an order, in bytes: a number, a slug of 32, and five keys of 32 digits.
const ROW_MAX: usize = 256;
/// Chips of one commit: taps go on in between.
const AT_ONCE: usize = 100;

/// Creates an order: a random set of keys for each tag, which nothing else uses, is stored before
/// any of it can leave.
pub(crate) async fn create_order(
    service: &Service,
    name: String,
    plan: OrderPlan,
    tags: Vec<TagId>,
) -> Result<Order, EncodeError> {
    let form = form_of(service, &plan).await?;
    for (index, tag) in tags.iter().enumerate() {
        let found = service.storage.tag(*tag).await?;
        let found = found.ok_or_else(|| {
            let (noun, id) = ("tag", tag.0);
            StorageError::from(Conflict::Missing { noun, id })
        })?;
        if found.simulated {
            let (tag, simulated) = (*tag, false);
            return Err(StorageError::from(Conflict::OtherWorld { tag, simulated }).into());
        }
        let fits = Plan::new(&of_slug(&form, found.fields.slug.to_string()));
        fits.map_err(|why| FieldError::of(format!("tag_ids[{index}]"), why.to_string()))?;
    }
    let set = || -> Result<WrappedSet, EncodeError> {
        let mut keys: WrappedSet = Default::default();
        for key in &mut keys {
            let bytes = Zeroizing::new(entropy::bytes::<16>(&*service.entropy));
            *key = service.keyring.wrap(&*bytes, &*service.entropy)?;
        }
        Ok(keys)
    };
    let keys = tags.iter().map(|_| set()).collect::<Result<_, _>>()?;
    let order = NewOrder {
        name,
        plan,
        tags,
        keys,
    };
    Ok(service.storage.insert_factory_order(order).await?)
}

/// How the chips of an order are written, but for the slug.
async fn form_of(service: &Service, plan: &OrderPlan) -> Result<Form, EncodeError> {
    let form = form::of_slug(service, String::new(), &options(plan)).await?;
    let settings = &form.template;
    if settings.technology.family() != Family::Ntag424 || settings.mode != Mode::Aes {
        let why = "An order is of NTAG 424 DNA in AES mode. Other chips have no keys that a bureau could write: give it their encoding sheet.";
        return Err(FieldError::of("url_template_id", why).into());
    }
    Ok(form)
}

fn options(plan: &OrderPlan) -> FormOptions {
    FormOptions {
        url_template_id: plan.url_template_id,
        mirror: plan.mirror,
        mac_from: plan.mac_from,
        ..FormOptions::default()
    }
}

fn of_slug(form: &Form, slug: String) -> Form {
    let mut form = form.clone();
    form.slug = slug;
    form
}

/// What a bureau writes to the chip of a position.
pub(crate) struct OrderRow {
    /// The position.
    pub(crate) position: OrderPosition,
    /// The chip.
    pub(crate) technology: Technology,
    /// Bytes, offsets and settings.
    pub(crate) sheet: EncodingSheet,
}

/// What a bureau writes, position by position.
pub(crate) async fn order_rows(
    service: &Service,
    id: FactoryOrderId,
) -> Result<(Order, Vec<OrderRow>), EncodeError> {
    let (order, positions) = whole(service, id).await?;
    let form = form_of(service, &order.plan).await?;
    let mut rows = Vec::with_capacity(positions.len());
    for position in positions {
        let plan = Plan::new(&of_slug(&form, position.slug.clone()));
        let plan = plan.map_err(|why| {
            let why = format!("Position {}: {why}", position.position);
            FieldError::whole(why)
        })?;
        let template = plan.template();
        let slug = template.has(Field::Slug).then_some(&*position.slug);
        let sheet = template.encoding_sheet(slug);
        let sheet = sheet.map_err(|why| FieldError::whole(why.to_string()))?;
        let technology = template.settings().technology;
        rows.push(OrderRow {
            position,
            technology,
            sheet,
        });
    }
    Ok((order, rows))
}

async fn whole(
    service: &Service,
    id: FactoryOrderId,
) -> Result<(Order, Vec<OrderPosition>), EncodeError> {
    let missing = || EncodeError::NotFound("factory order");
    let order = service.storage.factory_order(id).await?;
    let positions = service.storage.factory_order_positions(id).await?;
    Ok((order.ok_or_else(missing)?, positions.ok_or_else(missing)?))
}

/// The keys of an order, as a CSV file in clear: it is sealed before it leaves.
pub(crate) async fn order_keys(
    service: &Service,
    id: FactoryOrderId,
) -> Result<Zeroizing<String>, EncodeError> {
    let (_, positions) = whole(service, id).await?;
    let keys = service.storage.factory_order_keys(id).await?;
    // It never grows: what is moved elsewhere would leave keys behind.
    let mut csv = Zeroizing::new(String::with_capacity(ROW_MAX * (positions.len() + 1)));
    csv.push_str("position,slug,key_version,key_0,key_1,key_2,key_3,key_4\r\n");
    for (position, set) in positions.iter().zip(&keys) {
        // Writing into a string does not fail.
        let _ = write!(
            csv,
            "{},{},{BUREAU_VERSION}",
            position.position, position.slug
        );
        for key in set {
            let key = service.keyring.unwrap(key)?;
            let hex = Zeroizing::new(base16ct::upper::encode_string(key.expose()));
            csv.push(',');
            csv.push_str(&hex);
        }
        csv.push_str("\r\n");
    }
    Ok(csv)
}

/// A row of what a bureau reports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reported {
    /// The chip.
    pub(crate) uid: Option<Uid>,
    /// The position, by its number.
    pub(crate) position: Option<u32>,
    /// The position, by the slug of its tag.
    pub(crate) slug: Option<String>,
    /// The position, by a URL of its chip; with a code it is a sample, and checked.
    pub(crate) url: Option<String>,
    /// The counter that the chip is known to have reached.
    pub(crate) counter: u32,
}

/// What becomes of a row.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    /// The position that it is about.
    pub(crate) position: Option<u32>,
    /// Whether its URL had a code, and it was right.
    pub(crate) proved: bool,
    /// What was done, or why nothing was, in words.
    pub(crate) outcome: Result<Taken, String>,
}

/// Takes what a bureau reports: what becomes of each row, and the positions that have no chip then.
pub(crate) async fn receive_order(
    service: &Service,
    id: FactoryOrderId,
    reported: Vec<Result<Reported, String>>,
    dry_run: bool,
) -> Result<(Vec<Settled>, Vec<u32>), EncodeError> {
    let (order, positions) = whole(service, id).await?;
    let form = form_of(service, &order.plan).await?;
    let keys = service.storage.factory_order_keys(id).await?;
    let report = Report {
        service,
        positions: &positions,
        form,
        keys,
    };
    let mut settled = Vec::with_capacity(reported.len());
    let mut chips: Vec<(usize, CameBack)> = Vec::new();
    for row in reported {
        let read = row.and_then(|row| report.read(&row));
        let (position, proved, outcome) = match read {
            Ok((chip, proved)) => {
                let position = chip.position;
                let twice = chips.iter().any(|(_, other)| {
                    other.inlay.uid == chip.inlay.uid || other.position == position
                });
                if twice {
                    let why = "Another row has the same chip, or the same position.".to_owned();
                    (Some(position), proved, Err(why))
                } else {
                    chips.push((settled.len(), chip));
                    (Some(position), proved, Ok(Taken::Bound))
                }
            }
            Err(why) => (None, false, Err(why)),
        };
        settled.push(Settled {
            position,
            proved,
            outcome,
        });
    }
    for some in chips.chunks(AT_ONCE) {
        let came = some.iter().map(|(_, chip)| chip.clone()).collect();
        let taken = service.storage.receive_chips(id, came, dry_run).await?;
        for ((index, _), taken) in some.iter().zip(taken) {
            settled[*index].outcome = taken.map_err(|conflict| conflict.to_string());
        }
    }
    let there = |position: &&OrderPosition| {
        let done = settled
            .iter()
            .any(|row| row.position == Some(position.position) && row.outcome.is_ok());
        position.uid.is_none() && !done
    };
    let missing = positions.iter().filter(there);
    let missing = missing.map(|position| position.position).collect();
    Ok((settled, missing))
}

/// An order while rows about it are read.
struct Report<'a> {
    service: &'a Service,
    positions: &'a [OrderPosition],
    form: Form,
    keys: Vec<WrappedSet>,
}

impl Report<'_> {
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

    /// The position of a row: all that it says of it must be about the same one.
    fn position(&self, row: &Reported) -> Result<(&OrderPosition, &WrappedSet), String> {
        let of_url = match &row.url {
            Some(url) => Some(
                self.slug_of(url)
                    .ok_or_else(|| format!("{url} is not a URL of this order."))?,
            ),
            None => None,
        };
        let slugs: Vec<_> = row.slug.iter().chain(of_url.iter()).collect();
        let fits = |position: &OrderPosition| {
            row.position
                .is_none_or(|number| number == position.position)
                && slugs
                    .iter()
                    .all(|slug| position.slug.eq_ignore_ascii_case(slug))
        };
        if row.position.is_none() && slugs.is_empty() {
            return Err(
                "The row names no position: it needs a position, a slug or a URL.".to_owned(),
            );
        }
        let mut both = self.positions.iter().zip(&self.keys);
        both.find(|(position, _)| fits(position))
            .ok_or_else(|| "The order has no such position.".to_owned())
    }

    /// The slug in a URL of a chip, or of its tag.
    fn slug_of(&self, url: &str) -> Option<String> {
        let template = Plan::new(&of_slug(&self.form, "x".to_owned())).ok()?;
        let request = Request::of_url(url)?;
        if let Some(read) = template.template().read(&request) {
            return read.slug;
        }
        let tag_url = &self.service.settings().tag_url;
        let slug = url.strip_prefix(&**tag_url)?.strip_prefix('/')?;
        let slug = slug.split(['?', '#']).next()?;
        Some(slug.to_owned())
    }
}

/// Whether a URL has a code, right or wrong.
fn has_code(plan: &Plan, url: &str) -> bool {
    let read = Request::of_url(url).and_then(|request| plan.template().read(&request));
    read.is_some_and(|read| !matches!(read.code, Ok(None)))
}

/// What a chip at goods-in is to become: the inlay of the tag that it came back for, with keys of
/// this service.
pub(crate) async fn of_order(
    service: &Service,
    id: FactoryOrderId,
    uid: Uid,
    how: FormOptions,
) -> Result<(Target, FormOptions), EncodeError> {
    let found = service.storage.order_of_chip(id, uid).await?;
    let (order, tag) = found.ok_or(EncodeError::NotFound("factory order"))?;
    let tag = tag.ok_or(EncodeError::NotFound("chip in what the bureau reported"))?;
    let FormOptions {
        url_template_id,
        mirror,
        mac_from,
        ..
    } = options(&order.plan);
    let how = FormOptions {
        url_template_id,
        mirror,
        mac_from,
        ..how
    };
    Ok((Target::Tag(tag), how))
}
