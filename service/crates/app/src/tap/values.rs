//! The values that an interaction gives to macros (decisions, "Macros").

use std::borrow::Cow;

use crate::service::{CachedTag, Service};
use domain::clock::Timestamp;
use domain::experience::Context;
use domain::group::property_of;
use domain::id::{InlayId, InteractionId};
use domain::interaction::{KeyedInteraction, Tech, Verdict, VerificationState};
use domain::macros::{self, Macro};
use domain::tag::{Properties, PropertyClass, Tag};
use domain::visitor::Visitor;
use inlay::assessment::Tamper;
use storage::StorageError;

/// The facts about an interaction once it is recorded.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// Identifier of the interaction; `None` in a preview.
    pub(super) id: Option<InteractionId>,
    /// Time of the tap.
    pub(super) at: Timestamp,
    /// Verdict on its code.
    pub(super) verdict: Verdict,
    /// The way of scanning.
    pub(super) tech: Tech,
    /// The state of the inlay's tamper loop.
    pub(super) tamper: Option<Tamper>,
    /// Two-letter code of the visitor's country.
    pub(super) country: String,
    /// The visitor's group, if the experience treats groups differently.
    pub(super) group: Option<u8>,
    /// The inlay that made the code.
    pub(super) inlay: Option<InlayId>,
    /// The parameters of the visitor's URL, without those of the code.
    pub(super) passed: Vec<(String, String)>,
}

impl From<KeyedInteraction> for Facts {
    fn from(interaction: KeyedInteraction) -> Self {
        let KeyedInteraction {
            id,
            at,
            verdict,
            tech,
            tamper,
            country,
            group,
            inlay_id,
            ..
        } = interaction;
        Self {
            id: Some(id),
            at,
            verdict,
            tech,
            tamper,
            country,
            group,
            inlay: inlay_id,
            passed: Vec::new(),
        }
    }
}

/// The values of macros for one answer. Properties have their present values.
pub(super) struct MacroValues<'a> {
    tag: &'a CachedTag,
    facts: Option<Facts>,
    rk: Option<&'a str>,
    attributes: Properties,
    data: Properties,
    variables: Properties,
    scan_count: u64,
}

impl<'a> MacroValues<'a> {
    /// The values with only those classes of properties that `uses` asks for.
    pub(super) async fn with(
        service: &Service,
        tag: &'a CachedTag,
        uses: impl Fn(&dyn Fn(&Macro) -> bool) -> bool,
        facts: Option<Facts>,
        rk: Option<&'a str>,
    ) -> Result<MacroValues<'a>, StorageError> {
        let wanted = |class| {
            uses(&|name| {
                matches!(
                    (name, class),
                    (Macro::TagAttribute(_), PropertyClass::Attribute)
                        | (Macro::TagData(_), PropertyClass::Data)
                        | (Macro::TagVariable(_), PropertyClass::Variable)
                )
            })
        };
        let mut scope = MacroValues::empty(tag, facts, rk);
        for class in PropertyClass::ALL
            .into_iter()
            .filter(|class| wanted(*class))
        {
            let properties = match tag.previewed() {
                Some(tag) => match class {
                    PropertyClass::Attribute => tag.fields.attributes.clone(),
                    PropertyClass::Data => tag.fields.data.clone(),
                    PropertyClass::Variable => tag.fields.variables.clone(),
                },
                None => service.storage.properties(tag.id(), class).await?,
            };
            match class {
                PropertyClass::Attribute => scope.attributes = properties,
                PropertyClass::Data => scope.data = properties,
                PropertyClass::Variable => scope.variables = properties,
            }
        }
        Ok(scope)
    }

    /// The values with every property of the tag, and with the inputs of its conditions.
    pub(super) async fn full(
        service: &Service,
        tag: &'a CachedTag,
        facts: Option<Facts>,
        rk: Option<&'a str>,
    ) -> Result<MacroValues<'a>, StorageError> {
        let mut scope = MacroValues::empty(tag, facts, rk);
        let stored = if let Some(tag) = tag.previewed() {
            Some(tag.clone())
        } else {
            let mut stored = service.storage.tag(tag.id()).await?;
            if let Some(tag) = &mut stored {
                tag.scan_count = taps_to_count(service, tag).await?;
            }
            stored
        };
        if let Some(tag) = stored {
            scope.scan_count = tag.scan_count;
            scope.attributes = tag.fields.attributes;
            scope.data = tag.fields.data;
            scope.variables = tag.fields.variables;
        }
        Ok(scope)
    }

    fn empty(tag: &'a CachedTag, facts: Option<Facts>, rk: Option<&'a str>) -> Self {
        Self {
            tag,
            facts,
            rk,
            attributes: Properties::default(),
            data: Properties::default(),
            variables: Properties::default(),
            scan_count: 0,
        }
    }

    /// The inputs of conditions, from [full](Self::full) values. Before a tap is recorded its state
    /// is "not checked", and `now` is its time.
    pub(super) fn context<'s>(
        &'s self,
        visitor: &Visitor,
        language: &'s str,
        now: Timestamp,
    ) -> Context<'s> {
        let facts = self.facts.as_ref();
        Context {
            verification: VerificationState::of(
                facts.and_then(|facts| facts.verdict.tag_verified()),
            ),
            counter: facts.and_then(|facts| facts.verdict.counter_move()),
            tamper: facts.and_then(|facts| facts.tamper),
            variables: &self.variables,
            scan_count: self.scan_count,
            lineage: self.tag.lineage(),
            language,
            country: facts.map_or("", |facts| facts.country.as_str()),
            operating_system: visitor.operating_system,
            technology: facts.map(|facts| facts.tech),
            group: facts.and_then(|facts| facts.group),
            at: facts.map_or(now, |facts| facts.at),
        }
    }

    /// The tag's own value of an attribute or of data, or else the nearest group's.
    fn property(&self, class: PropertyClass, key: &str) -> Option<Cow<'_, str>> {
        let own = match class {
            PropertyClass::Attribute => &self.attributes,
            PropertyClass::Data => &self.data,
            PropertyClass::Variable => &self.variables,
        };
        property_of(own, self.tag.lineage(), class, key).map(Cow::from)
    }

    fn fact<T: ToString>(&self, fact: impl Fn(&Facts) -> T) -> Option<Cow<'_, str>> {
        self.facts
            .as_ref()
            .map(|facts| fact(facts).to_string().into())
    }
}

/// How many taps of a tag conditions count: all but those of staff, who check a tag without visiting
/// it.
pub(super) async fn taps_to_count(service: &Service, tag: &Tag) -> Result<u64, StorageError> {
    if tag.test_scan_count == 0 {
        return Ok(tag.scan_count);
    }
    // Boxed, so that the futures of taps stay small.
    let staff = Box::pin(service.storage.staff_taps(tag.id)).await?;
    Ok(tag.scan_count.saturating_sub(staff))
}

impl macros::Scope for MacroValues<'_> {
    fn value(&self, name: &Macro) -> Option<Cow<'_, str>> {
        let location = self.tag.location();
        match name {
            Macro::InteractionRk => self.rk.map(Cow::from),
            Macro::InteractionId => self.fact(|facts| facts.id.map_or(0, InteractionId::get)),
            Macro::InteractionTime => self.fact(|facts| facts.at.unix_seconds()),
            Macro::TechValue => self.fact(|facts| facts.tech.value()),
            Macro::TechName => self.fact(|facts| facts.tech.name()),
            Macro::VerificationSupported => Some(
                (self.tag.switches.verifier_enabled && self.tag.rolls())
                    .to_string()
                    .into(),
            ),
            Macro::VerificationResult => {
                let verified = self.facts.as_ref()?.verdict.tag_verified()?;
                Some(verified.to_string().into())
            }
            Macro::Tampered | Macro::TamperResult => {
                let sealed = self.facts.as_ref()?.tamper?.is_sealed()?;
                Some(sealed.to_string().into())
            }
            Macro::TamperSupported => {
                let supported = self.facts.as_ref()?.tamper.is_some();
                Some(supported.to_string().into())
            }
            Macro::InteractionCounter => {
                let (counter, _) = self.facts.as_ref()?.verdict.counters();
                Some(counter?.to_string().into())
            }
            Macro::InlayUid => {
                let uid = self.tag.uid_of(self.facts.as_ref()?.inlay?)?;
                Some(uid.to_string().into())
            }
            Macro::GroupName
            | Macro::ProductName
            | Macro::ProductCode
            | Macro::ProductGtin
            | Macro::BatchName
            | Macro::BatchCode => self.tag.lineage()?.value(name).map(Cow::from),
            Macro::Query(name) => {
                let passed = &self.facts.as_ref()?.passed;
                let (_, value) = passed.iter().find(|(passed, _)| passed == name)?;
                Some(value.as_str().into())
            }
            Macro::TagId => Some(self.tag.shown_id().to_string().into()),
            Macro::TagSlug => Some(self.tag.slug().into()),
            Macro::TagName => Some(self.tag.name().into()),
            Macro::TagTitle => Some(self.tag.title().into()),
            Macro::TagAttribute(key) => self.property(PropertyClass::Attribute, key),
            Macro::TagData(key) => self.property(PropertyClass::Data, key),
            Macro::TagVariable(key) => self.variables.get(key).map(Cow::from),
            Macro::DeviceCountry => self
                .facts
                .as_ref()
                .map(|facts| facts.country.as_str().into()),
            Macro::LocationLat => location.map(|location| location.lat.to_string().into()),
            Macro::LocationLon => location.map(|location| location.lon.to_string().into()),
            Macro::VenueName => location.map(|location| location.venue.name.as_str().into()),
            Macro::LabelNumber => None,
        }
    }
}
