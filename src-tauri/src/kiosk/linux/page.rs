//! The visitor's page, on `WebKitGTK`: each visit has its own web view, with a context that is only
//! in memory and ends with the visit. It is not a web view of Tauri's, so it has no commands to
//! call.
//!
//! Everything by which a page could leave its place is closed here: other hosts, other windows,
//! dialogs, downloads, files, printing, menus, permissions.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use gtk::glib;
use gtk::prelude::*;
use tapdesk_service::clock::Stopwatch;
use tauri::WebviewWindow;
use url::Url;
use webkit2gtk::{
    AuthenticationRequestExt as _, FileChooserRequestExt as _, LoadEvent, NavigationPolicyDecision,
    NavigationPolicyDecisionExt as _, PermissionRequestExt as _, PolicyDecisionExt as _,
    PolicyDecisionType, ResponsePolicyDecision, ResponsePolicyDecisionExt, SettingsExt as _,
    URIRequestExt as _, UserContentInjectedFrames, UserContentManager, UserContentManagerExt as _,
    UserScript, UserScriptInjectionTime, WebContext, WebContextExt as _, WebView, WebViewExt as _,
    WebViewExtManual as _,
};

use crate::kiosk::allowed_hosts::AllowedHosts;
use crate::kiosk::visits::FirstPage;
use crate::kiosk::{Event, Report, SharedKiosk, lock};

/// Height of the strip below a visitor's page, in logical pixels.
const STRIP: i32 = 96;
/// How long the verdict stays before the page covers it: long enough to read three words.
const VERDICT_TIME: Duration = Duration::from_millis(1_200);
/// How long after its appearance a page is drawn for the first time, at the latest. Until then the
/// owner's colour is behind it; later it is white, as in every browser, because a page without a
/// background of its own has black text.
const DRAWN_TIME: Duration = Duration::from_millis(300);
/// Tapdesk's own background, as the page's style says it.
const OWN_GROUND: &str = "#14161d";
/// The height for which pages are made on a wide screen, in CSS pixels: a larger screen enlarges them,
/// so that they can be read from further away.
const MADE_FOR_HEIGHT: f64 = 720.0;
/// The width for which pages are made on a high screen: their column of 544 pixels fills it.
const MADE_FOR_WIDTH: f64 = 600.0;

/// The keyboard that appears for a field. Its world is separate from that of the page, whose
/// scripts cannot call it.
const KEYBOARD: &str = include_str!("keyboard.js");

/// Reports the events of one web view.
#[derive(Clone)]
struct Events {
    kiosk: SharedKiosk,
    /// The visit of the web view; `None` for the attract page.
    visit: Option<u64>,
}

impl Events {
    fn tell(&self, event: Event) {
        let visit = self.visit;
        self.kiosk.tell(Report { visit, event });
    }
}

/// Content of the kiosk's window: the attract page, and above it a visitor's page.
pub(super) struct Stage {
    column: gtk::Box,
    attract: WebView,
    page: Option<WebView>,
    kiosk: SharedKiosk,
}

impl Stage {
    /// The stage in `window`, whose web view is `attract`.
    pub(super) fn new(
        window: &WebviewWindow,
        attract: WebView,
        kiosk: SharedKiosk,
    ) -> tauri::Result<Self> {
        let events = Events {
            kiosk: Arc::clone(&kiosk),
            visit: None,
        };
        close(&attract, &events);
        attract.set_background_color(&ground(None));
        attract.connect_web_process_terminated(move |attract, reason| {
            if reason == webkit2gtk::WebProcessTerminationReason::TerminatedByApi {
                tracing::info!("the welcome page is loaded again");
            } else {
                tracing::warn!("the welcome page crashed; it is loaded again");
            }
            attract.reload();
            lock(&events.kiosk.heartbeat).loads();
        });
        if let Some(settings) = webkit2gtk::WebViewExt::settings(&attract) {
            // Its sounds follow a tag on the reader, not a click.
            settings.set_media_playback_requires_user_gesture(false);
        }
        Ok(Self {
            column: window.default_vbox()?,
            attract,
            page: None,
            kiosk,
        })
    }

    /// Loads the attract page again, in a new process. The old one is ended first, because it may
    /// hang; the signal of that end does the rest.
    pub(super) fn reload(&self) {
        self.attract.terminate_web_process();
    }

    /// Begins a visit, and ends the current one first. The page is shown when it has something to
    /// show; until then the verdict fills the screen.
    pub(super) fn begin(&mut self, first: FirstPage) {
        self.end();
        let context = WebContext::new_ephemeral();
        if let Some(language) = &first.language {
            context.set_preferred_languages(&[language.as_str()]);
        }
        context.connect_download_started(|_, download| {
            webkit2gtk::DownloadExt::cancel(download);
        });
        let contents = UserContentManager::new();
        if first.has_keyboard {
            contents.add_script(&UserScript::for_world(
                KEYBOARD,
                UserContentInjectedFrames::TopFrame,
                UserScriptInjectionTime::End,
                "tapdesk-keyboard",
                &[],
                &[],
            ));
        }
        let page = WebView::new_with_context_and_user_content_manager(&context, &contents);
        page.set_background_color(&ground(first.colour.as_deref()));
        page.set_zoom_level(self.zoom());
        if let Some(settings) = webkit2gtk::WebViewExt::settings(&page) {
            settings.set_enable_developer_extras(false);
            settings.set_javascript_can_open_windows_automatically(false);
            settings.set_javascript_can_access_clipboard(false);
            settings.set_enable_back_forward_navigation_gestures(false);
            settings.set_enable_fullscreen(false);
        }
        let events = Events {
            kiosk: Arc::clone(&self.kiosk),
            visit: Some(first.visit),
        };
        close(&page, &events);
        lead(&page, first.allowed_hosts, &events);
        // Not shown yet, it takes no room.
        self.column.pack_start(&page, true, true, 0);
        self.reveal_when_loaded(&page, events);
        page.load_uri(first.url.as_str());
        self.page = Some(page);
    }

    /// Shows a page once it has content, and its verdict was there long enough.
    fn reveal_when_loaded(&self, page: &WebView, events: Events) {
        let began = Stopwatch::start();
        let (column, attract) = (self.column.clone(), self.attract.clone());
        page.connect_load_changed(move |page, event| {
            if event != LoadEvent::Committed || page.is_visible() {
                return;
            }
            let left = VERDICT_TIME.saturating_sub(began.elapsed());
            let (column, attract) = (column.clone(), attract.clone());
            let (page, events) = (page.clone(), events.clone());
            glib::timeout_add_local_once(left, move || {
                // The visit may have ended in the meantime; then the page is in no window.
                if page.parent().is_some() && !page.is_visible() {
                    reveal(&column, &attract, &page);
                    events.tell(Event::PageShown);
                    glib::timeout_add_local_once(DRAWN_TIME, move || {
                        page.set_background_color(&gtk::gdk::RGBA::WHITE);
                    });
                }
            });
        });
    }

    /// How much a page is enlarged on this screen.
    fn zoom(&self) -> f64 {
        zoom_on(
            self.column.allocated_width(),
            self.column.allocated_height(),
        )
    }

    /// Ends the visit, if there is one, and deletes everything that its page stored.
    pub(super) fn end(&mut self) {
        let Some(page) = self.page.take() else {
            return;
        };
        self.column.remove(&page);
        // Everything that the page stored is in its context, which is dropped with it.
        page.terminate_web_process();
        self.attract.set_size_request(-1, -1);
        self.column
            .set_child_packing(&self.attract, true, true, 0, gtk::PackType::End);
        self.attract.grab_focus();
    }
}

/// How much a page is enlarged on a screen of this width and height, in logical pixels.
fn zoom_on(width: i32, height: i32) -> f64 {
    let zoom = if width < height {
        f64::from(width) / MADE_FOR_WIDTH
    } else {
        f64::from(height) / MADE_FOR_HEIGHT
    };
    zoom.clamp(1.0, 3.0)
}

/// Shows a visitor's page in place of all but the strip.
fn reveal(column: &gtk::Box, attract: &WebView, page: &WebView) {
    column.set_child_packing(attract, false, true, 0, gtk::PackType::End);
    attract.set_size_request(-1, STRIP);
    // The page gets the height that the strip leaves. A web view keeps its old height otherwise,
    // and there is no room for both.
    page.set_size_request(-1, column.allocated_height() - STRIP);
    page.show();
    page.grab_focus();
}

/// A background colour, `#rrggbb`; Tapdesk's own without one.
fn ground(colour: Option<&str>) -> gtk::gdk::RGBA {
    let parsed = gtk::gdk::RGBA::parse(colour.unwrap_or(OWN_GROUND));
    parsed.unwrap_or(gtk::gdk::RGBA::BLACK)
}

/// Disables everything that a page could open.
fn close(page: &WebView, events: &Events) {
    page.connect_context_menu(|_, _, _, _| true);
    page.connect_create(|_, _| None);
    page.connect_print(|_, _| true);
    page.connect_enter_fullscreen(|_| true);
    // `true` takes the dialog over. As it is never shown, the page sees it as closed.
    page.connect_script_dialog(|_, _| true);
    page.connect_run_file_chooser(|_, request| {
        request.cancel();
        true
    });
    page.connect_permission_request(|_, request| {
        request.deny();
        true
    });
    page.connect_authenticate(|_, request| {
        request.cancel();
        true
    });
    // Nothing can be dragged into the page; dragging out is disabled, too.
    page.drag_dest_unset();
    page.drag_source_unset();
    watch_input(page, events);
}

/// Lets a page navigate only to allowed hosts.
fn lead(page: &WebView, allowed_hosts: AllowedHosts, events: &Events) {
    let refused = events.clone();
    page.connect_decide_policy(move |page, decision, kind| {
        match kind {
            PolicyDecisionType::NavigationAction => {
                let url = target(decision);
                if url
                    .as_ref()
                    .is_some_and(|url| allowed_hosts.allows(url) || is_blank(url))
                {
                    decision.use_();
                } else {
                    decision.ignore();
                    refused.tell(Event::LedToOtherHost);
                }
            }
            // A link that asks for a new window opens in the same view.
            PolicyDecisionType::NewWindowAction => {
                decision.ignore();
                if let Some(url) = target(decision).filter(|url| allowed_hosts.allows(url)) {
                    page.load_uri(url.as_str());
                } else {
                    refused.tell(Event::LedToOtherHost);
                }
            }
            _ => {
                let shown = decision
                    .downcast_ref::<ResponsePolicyDecision>()
                    .is_some_and(ResponsePolicyDecisionExt::is_mime_type_supported);
                if shown {
                    decision.use_();
                } else {
                    decision.ignore();
                }
            }
        }
        true
    });
    let failed = events.clone();
    page.connect_load_failed(move |_, _, url, error| {
        // A load that was refused, or replaced by the next one, has not failed.
        if !error.matches(webkit2gtk::NetworkError::Cancelled)
            && !error.matches(webkit2gtk::PolicyError::FrameLoadInterruptedByPolicyChange)
        {
            tracing::info!("the page of a visit does not open: {}", host(url));
            failed.tell(Event::PageFailed);
        }
        true
    });
    let failed = events.clone();
    page.connect_load_failed_with_tls_errors(move |_, url, _, _| {
        tracing::info!(
            "the page of a visit has no valid certificate: {}",
            host(url)
        );
        failed.tell(Event::PageFailed);
        true
    });
    let broke = events.clone();
    page.connect_web_process_terminated(move |_, reason| {
        if reason != webkit2gtk::WebProcessTerminationReason::TerminatedByApi {
            broke.tell(Event::PageBroke);
        }
    });
}

/// Whether this is the blank page of a frame that has not loaded anything yet.
fn is_blank(url: &Url) -> bool {
    matches!(url.as_str(), "about:blank" | "about:srcdoc")
}

fn target(decision: &webkit2gtk::PolicyDecision) -> Option<Url> {
    let decision = decision.downcast_ref::<NavigationPolicyDecision>()?;
    let uri = decision.navigation_action()?.request()?.uri()?;
    Url::parse(&uri).ok()
}

/// The host, which is the only part of a URL that may be logged: the rest can contain a key.
fn host(url: &str) -> String {
    let url = Url::parse(url).ok();
    let host = url.as_ref().and_then(Url::host_str);
    host.unwrap_or("no host").to_owned()
}

/// Reports every touch, click, movement and key.
fn watch_input(page: &WebView, events: &Events) {
    let events = events.clone();
    let escape = Rc::new(Held::default());
    page.connect_event(move |_, event| {
        use gtk::gdk::EventType;
        let is_escape = || event.keyval() == Some(*gtk::gdk::keys::constants::Escape);
        match event.event_type() {
            EventType::KeyPress if is_escape() => escape.begin(&events),
            EventType::KeyRelease if is_escape() => escape.end(),
            EventType::FocusChange => escape.end(),
            _ => {}
        }
        if matches!(
            event.event_type(),
            EventType::ButtonPress
                | EventType::KeyPress
                | EventType::MotionNotify
                | EventType::Scroll
                | EventType::TouchBegin
                | EventType::TouchUpdate
        ) {
            events.tell(Event::Input);
        }
        glib::Propagation::Proceed
    });
}

/// How long the owner holds the Escape key, as on the attract page.
const HELD_TIME: Duration = Duration::from_secs(3);

/// The timer of the Escape key on a visitor's page, while the key is held.
#[derive(Default)]
struct Held(RefCell<Option<glib::SourceId>>);

impl Held {
    /// Ignores repeats, because a held key repeats its press.
    fn begin(self: &Rc<Self>, events: &Events) {
        let mut timer = self.0.borrow_mut();
        if timer.is_some() {
            return;
        }
        let (held, events) = (Rc::clone(self), events.clone());
        *timer = Some(glib::timeout_add_local_once(HELD_TIME, move || {
            held.0.take();
            events.tell(Event::OwnerAsks);
        }));
    }

    fn end(&self) {
        if let Some(timer) = self.0.take() {
            timer.remove();
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_enlarged_until_it_fills_a_wide_or_high_screen() {
        for (width, height, zoom) in [
            (1_920, 1_080, 1.5),
            (1_080, 1_920, 1.8),
            (1_280, 800, 1.111),
            (3_840, 2_160, 3.0),
            (800, 480, 1.0),
        ] {
            let found = zoom_on(width, height);
            assert!((found - zoom).abs() < 0.001, "{width}x{height}: {found}");
        }
    }
}
