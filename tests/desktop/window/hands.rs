//! Input to a display, and screenshots of it: keys, clicks and pictures, independent of the
//! windows' own view.

use std::fs::{self, File};
use std::io::BufWriter;

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, ImageFormat, InputFocus,
    MapState, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;
use x11rb::{CURRENT_TIME, NONE};

/// Event types of the X11 protocol.
const KEY_PRESS: u8 = 2;
const KEY_RELEASE: u8 = 3;
const BUTTON_PRESS: u8 = 4;
const BUTTON_RELEASE: u8 = 5;
const MOTION: u8 = 6;

/// The code of the Enter key.
const ENTER: u8 = 36;

/// A connection to a display.
pub(crate) struct Hands {
    x: RustConnection,
    root: Window,
    /// Width and height in pixels.
    pub size: (u16, u16),
}

impl Hands {
    /// The hands of a person at this X display.
    pub(crate) fn on(display: &str) -> Self {
        let (x, screen) = x11rb::connect(Some(display)).expect("the display can be reached");
        let screen = &x.setup().roots[screen];
        let (root, size) = (
            screen.root,
            (screen.width_in_pixels, screen.height_in_pixels),
        );
        Self { x, root, size }
    }

    fn input(&self, kind: u8, detail: u8, x: i16, y: i16) {
        self.x
            .xtest_fake_input(kind, detail, CURRENT_TIME, self.root, x, y, 0)
            .map(x11rb::cookie::VoidCookie::ignore_error)
            .expect("the display takes input");
    }

    /// Gives the keyboard to the lowest window that fills the screen, like a window manager.
    pub(crate) fn focus(&self) {
        if let Some(window) = self.windows().first() {
            self.give_keyboard(*window);
        }
    }

    fn give_keyboard(&self, window: Window) {
        self.x
            .set_input_focus(InputFocus::PARENT, window, CURRENT_TIME)
            .map(x11rb::cookie::VoidCookie::ignore_error)
            .expect("the display takes a focus");
        self.sync();
    }

    /// Presses Enter in every window with this title: takes the choice that a dialog of the system
    /// proposes.
    pub(crate) fn enter(&self, title: &str) {
        for window in self.of_title(title) {
            self.give_keyboard(window);
            self.keys(&[ENTER]);
        }
    }

    /// Presses and releases keys, by their key codes.
    pub(crate) fn keys(&self, keys: &[u8]) {
        for key in keys {
            self.input(KEY_PRESS, *key, 0, 0);
        }
        for key in keys.iter().rev() {
            self.input(KEY_RELEASE, *key, 0, 0);
        }
        self.sync();
    }

    /// Holds a key down until it is released.
    pub(crate) fn hold(&self, key: u8) {
        self.input(KEY_PRESS, key, 0, 0);
        self.sync();
    }

    /// Releases a key that is held.
    pub(crate) fn release(&self, key: u8) {
        self.input(KEY_RELEASE, key, 0, 0);
        self.sync();
    }

    /// Clicks a position with this button.
    pub(crate) fn click(&self, x: i16, y: i16, button: u8) {
        self.input(MOTION, 0, x, y);
        self.input(BUTTON_PRESS, button, 0, 0);
        self.input(BUTTON_RELEASE, button, 0, 0);
        self.sync();
    }

    /// Drags from one position to another.
    pub(crate) fn drag(&self, from: (i16, i16), to: (i16, i16)) {
        self.input(MOTION, 0, from.0, from.1);
        self.input(BUTTON_PRESS, 1, 0, 0);
        self.input(MOTION, 0, to.0, to.1);
        self.input(BUTTON_RELEASE, 1, 0, 0);
        self.sync();
    }

    /// Waits until the display has processed everything: requests that are still on their way when
    /// the connection closes may be lost.
    fn sync(&self) {
        self.x.sync().expect("the display takes input");
    }

    /// Windows that are shown and managed, without menus and tooltips.
    pub(crate) fn windows(&self) -> Vec<Window> {
        let tree = self
            .x
            .query_tree(self.root)
            .ok()
            .and_then(|tree| tree.reply().ok());
        let all = tree.map(|tree| tree.children).unwrap_or_default();
        all.into_iter()
            .filter(|window| {
                let attributes = self.x.get_window_attributes(*window).ok();
                attributes
                    .and_then(|asked| asked.reply().ok())
                    .is_some_and(|is| is.map_state == MapState::VIEWABLE && !is.override_redirect)
            })
            .collect()
    }

    /// Asks every window with this title to close, like a window manager. Returns their number.
    pub(crate) fn close(&self, title: &str) -> usize {
        let (protocols, delete) = (self.atom("WM_PROTOCOLS"), self.atom("WM_DELETE_WINDOW"));
        let windows = self.of_title(title);
        for window in &windows {
            let message = ClientMessageEvent::new(32, *window, protocols, [delete, 0, 0, 0, 0]);
            self.x
                .send_event(false, *window, EventMask::NO_EVENT, message)
                .map(x11rb::cookie::VoidCookie::ignore_error)
                .expect("the display takes messages");
        }
        self.sync();
        windows.len()
    }

    /// The number of shown windows with this title.
    pub(crate) fn titled(&self, title: &str) -> usize {
        self.of_title(title).len()
    }

    fn of_title(&self, title: &str) -> Vec<Window> {
        let mut windows = self.windows();
        windows.retain(|window| self.title(*window).as_deref() == Some(title.as_bytes()));
        windows
    }

    /// The title of a window; `None` if the window is gone.
    fn title(&self, window: Window) -> Option<Vec<u8>> {
        let name = self.atom("_NET_WM_NAME");
        let asked = self
            .x
            .get_property(false, window, name, AtomEnum::ANY, 0, 256);
        Some(asked.ok()?.reply().ok()?.value)
    }

    fn atom(&self, name: &str) -> Atom {
        let asked = self.x.intern_atom(false, name.as_bytes()).ok();
        let known = asked.and_then(|atom| atom.reply().ok());
        known.expect("the display can be asked").atom
    }

    /// Position and size of a window.
    pub(crate) fn place(&self, window: Window) -> (i16, i16, u16, u16) {
        let geometry = self
            .x
            .get_geometry(window)
            .ok()
            .and_then(|it| it.reply().ok());
        geometry.map_or((0, 0, 0, 0), |it| (it.x, it.y, it.width, it.height))
    }

    /// Whether this colour is on the display, as red, green and blue.
    pub(crate) fn see_colour(&self, colour: [u8; 3]) -> bool {
        self.look().as_chunks().0.contains(&colour)
    }

    /// The colour at a position of the display, as red, green and blue.
    pub(crate) fn colour_at(&self, x: u16, y: u16) -> [u8; 3] {
        let pixel = usize::from(y) * usize::from(self.size.0) + usize::from(x);
        self.look().as_chunks().0[pixel]
    }

    /// All pixels of the display: three bytes each, row by row.
    fn look(&self) -> Vec<u8> {
        let (width, height) = self.size;
        let image = self
            .x
            .get_image(ImageFormat::Z_PIXMAP, self.root, 0, 0, width, height, !NONE)
            .ok()
            .and_then(|image| image.reply().ok())
            .expect("the display can be seen");
        // Blue, green, red and an unused byte.
        let pixels = image.data.chunks_exact(4);
        pixels
            .flat_map(|pixel| [pixel[2], pixel[1], pixel[0]])
            .collect()
    }

    /// Saves a screenshot of the display in `target/screenshots`.
    pub(crate) fn leave_picture(&self, name: &str) {
        let (width, height) = self.size;
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/target/screenshots");
        fs::create_dir_all(folder).expect("the target folder can be written");
        let file = File::create(format!("{folder}/{name}.png"));
        let file = BufWriter::new(file.expect("the target folder can be written"));
        let mut picture = png::Encoder::new(file, width.into(), height.into());
        picture.set_color(png::ColorType::Rgb);
        picture
            .write_header()
            .and_then(|mut picture| picture.write_image_data(&self.look()))
            .expect("the target folder can be written");
    }
}
