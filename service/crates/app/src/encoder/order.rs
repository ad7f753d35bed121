//! Orders for an encoding bureau: export, and goods-in.

use std::fmt::Write as _;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::{EncodeError, FormOptions, form};
use crate::service::Service;
use domain::entropy;
use domain::field_error::FieldError;
use domain::id::{FactoryOrderId, TagId};
use domain::text::Name;
use encoding::order::{BUREAU_VERSION, Order, OrderPlan, OrderPosition, is_orderable};
use encoding::{Form, Goal, Plan};
use inlay::template::{EncodingSheet, Field};
use inlay::{Technology, Uid};
use storage::{Conflict, NewOrder, StorageError, WrappedSet};

/// Longest row of the keys of an order, in bytes: a number, a slug of 32, and five keys of 32
/// digits.
const ROW_MAX: usize = 256;

/// Creates an order. It stores a random set of keys for each tag, used for nothing else, before any
/// of it can be exported.
pub async fn create_order(
    service: &Arc<Service>,
    name: Name,
    plan: OrderPlan,
    tags: Vec<TagId>,
    allow_unproved_address: bool,
) -> Result<Order, EncodeError> {
    let form = form_of(service, &plan).await?;
    for (index, tag) in tags.iter().enumerate() {
        let found = service.storage.tag(*tag).await?;
        let found = found.ok_or_else(|| {
            let field = format!("tag_ids[{index}]").into();
            let (noun, id) = ("tag", tag.get());
            StorageError::from(Conflict::MissingInList { field, noun, id })
        })?;
        if found.simulated {
            let (tag, simulated) = (*tag, false);
            return Err(StorageError::from(Conflict::OtherWorld { tag, simulated }).into());
        }
        let fits = Plan::new(&of_slug(&form, found.fields.slug.to_string()));
        fits.map_err(|why| FieldError::of(format!("tag_ids[{index}]"), why.to_string()))?;
    }
    let how = FormOptions {
        allow_unproved_address,
        ..options(&plan)
    };
    form::check_address(service, &how).await?;
    let all = tags.len();
    let sets = move |service: &Service| (0..all).map(|_| random_set(service)).collect();
    let keys = apart(service, sets).await?;
    let order = NewOrder {
        name,
        plan,
        tags,
        keys,
    };
    Ok(service.storage.insert_factory_order(order).await?)
}

/// Five random keys, used for nothing else.
fn random_set(service: &Service) -> Result<WrappedSet, EncodeError> {
    let mut keys: WrappedSet = Default::default();
    for key in &mut keys {
        let bytes = Zeroizing::new(entropy::bytes::<16>(&*service.entropy));
        *key = service.keyring.wrap(&*bytes, &*service.entropy)?;
    }
    Ok(keys)
}

/// Runs work on all positions of an order on a separate thread, because it takes longer than a tap
/// may wait.
pub(super) async fn apart<T: Send + 'static>(
    service: &Arc<Service>,
    work: impl FnOnce(&Service) -> Result<T, EncodeError> + Send + 'static,
) -> Result<T, EncodeError> {
    let service = Arc::clone(service);
    tokio::task::spawn_blocking(move || work(&service))
        .await
        .unwrap_or_else(|error| Err(StorageError::Failed(error.to_string()).into()))
}

/// How the chips of an order are written, except for the slug.
pub(super) async fn form_of(service: &Service, plan: &OrderPlan) -> Result<Form, EncodeError> {
    let form = form::of_slug(service, String::new(), &options(plan)).await?;
    let settings = &form.template;
    if !is_orderable(settings.technology, settings.mode) {
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

pub(super) fn of_slug(form: &Form, slug: String) -> Form {
    let mut form = form.clone();
    form.slug = slug;
    form
}

/// The instructions to a bureau for the chip of a position.
pub struct OrderRow {
    /// Position that the chip is for.
    pub position: OrderPosition,
    /// Technology of the chip.
    pub technology: Technology,
    /// Bytes, offsets and settings.
    pub sheet: EncodingSheet,
}

/// The instructions to a bureau, position by position.
pub async fn order_rows(
    service: &Arc<Service>,
    id: FactoryOrderId,
) -> Result<(Order, Vec<OrderRow>), EncodeError> {
    let (order, positions) = whole(service, id).await?;
    let form = form_of(service, &order.plan).await?;
    let rows = apart(service, move |_| rows_of(&form, positions)).await?;
    Ok((order, rows))
}

fn rows_of(form: &Form, positions: Vec<OrderPosition>) -> Result<Vec<OrderRow>, EncodeError> {
    let mut rows = Vec::with_capacity(positions.len());
    for position in positions {
        let plan = Plan::new(&of_slug(form, position.slug.clone()));
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
    Ok(rows)
}

pub(super) async fn whole(
    service: &Service,
    id: FactoryOrderId,
) -> Result<(Order, Vec<OrderPosition>), EncodeError> {
    let missing = || EncodeError::NotFound("factory order");
    let order = service.storage.factory_order(id).await?;
    let positions = service.storage.factory_order_positions(id).await?;
    Ok((order.ok_or_else(missing)?, positions.ok_or_else(missing)?))
}

/// The keys of an order, as a CSV file in clear. The caller seals it before it leaves.
pub async fn order_keys(
    service: &Arc<Service>,
    id: FactoryOrderId,
) -> Result<Zeroizing<String>, EncodeError> {
    let (_, positions) = whole(service, id).await?;
    let keys = service.storage.factory_order_keys(id).await?;
    apart(service, move |service| table_of(service, &positions, &keys)).await
}

fn table_of(
    service: &Service,
    positions: &[OrderPosition],
    keys: &[WrappedSet],
) -> Result<Zeroizing<String>, EncodeError> {
    // The capacity is never exceeded: a reallocation would leave keys behind in memory.
    let mut csv = Zeroizing::new(String::with_capacity(ROW_MAX * (positions.len() + 1)));
    csv.push_str("position,slug,key_version,key_0,key_1,key_2,key_3,key_4\r\n");
    for (position, set) in positions.iter().zip(keys) {
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

/// The goal for a chip at goods-in: an inlay of the tag that the bureau encoded it for, with keys
/// of this service.
pub async fn of_order(
    service: &Service,
    id: FactoryOrderId,
    uid: Uid,
    how: FormOptions,
) -> Result<(Goal, FormOptions), EncodeError> {
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
    Ok((Goal::Tag(tag), how))
}
