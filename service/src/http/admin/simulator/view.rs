//! A virtual inlay as the admin API shows it.

use serde::Serialize;
use utoipa::ToSchema;

use crate::id::{InlayId, TagId, UrlTemplateId, VirtualInlayId};
use crate::inlay::technology::Mode;
use crate::inlay::{MacFrom, Mirror, Technology, Uid};
use crate::inventory::SimulatedInlay;

/// A virtual inlay: a chip in software.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VirtualInlay)]
pub(crate) struct VirtualInlayView {
    /// Its identifier in the simulator.
    pub(super) id: VirtualInlayId,
    /// Its inlay, in `/inlays`.
    inlay_id: InlayId,
    /// Its UID.
    uid: Uid,
    /// The chip.
    technology: Technology,
    /// The cipher of an NTAG 424 DNA.
    mode: Mode,
    /// Its URL template; null for the canonical form.
    url_template_id: Option<UrlTemplateId>,
    /// How it shows UID and counter in the canonical form; null with a URL template, or if it
    /// makes no codes any more.
    mirror: Option<Mirror>,
    /// Where the part of the URL that its MAC covers begins.
    mac_from: MacFrom,
    /// The simulated tag it is on.
    tag_id: Option<TagId>,
    /// That tag's slug.
    tag: Option<String>,
    /// How often it was tapped.
    counter: u32,
    /// Always true.
    simulated: bool,
}

impl From<SimulatedInlay> for VirtualInlayView {
    fn from(chip: SimulatedInlay) -> Self {
        Self {
            id: chip.id,
            inlay_id: chip.inlay.id,
            uid: chip.inlay.uid,
            technology: chip.inlay.fields.technology,
            mode: chip.inlay.fields.mode,
            url_template_id: chip.inlay.fields.url_template_id,
            mirror: chip.inlay.fields.mirror,
            mac_from: chip.inlay.fields.mac_from,
            tag_id: chip.inlay.fields.tag_id,
            tag: chip.slug,
            counter: chip.counter,
            simulated: chip.inlay.simulated,
        }
    }
}
