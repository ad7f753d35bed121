//! A virtual inlay in the admin API.

use serde::Serialize;
use utoipa::ToSchema;

use domain::id::{InlayId, TagId, UrlTemplateId, VirtualInlayId};
use domain::inventory::SimulatedInlay;
use inlay::technology::Mode;
use inlay::{MacFrom, Mirror, Technology, Uid};

/// A virtual inlay: a chip in software.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VirtualInlay)]
pub(crate) struct VirtualInlayView {
    /// Identifier of the virtual inlay in the simulator.
    pub(super) id: VirtualInlayId,
    /// Identifier of its inlay, in `/inlays`.
    inlay_id: InlayId,
    /// UID of the virtual chip.
    uid: Uid,
    /// Type of the virtual chip.
    technology: Technology,
    /// The cipher of an NTAG 424 DNA.
    mode: Mode,
    /// The URL template; null for the canonical form.
    url_template_id: Option<UrlTemplateId>,
    /// How the URL contains UID and counter in the canonical form; null with a URL template, or if
    /// the chip makes no codes any more.
    mirror: Option<Mirror>,
    /// Start of the part of the URL that the MAC covers.
    mac_from: MacFrom,
    /// The simulated tag of the inlay.
    tag_id: Option<TagId>,
    /// Slug of the tag.
    tag: Option<String>,
    /// Number of taps so far.
    #[schema(value_type = u64)]
    counter: u32,
    /// Always true: virtual inlays exist only in the simulated world.
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
