//! What a window manager does, where a test has none.

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, Window,
};
use x11rb::rust_connection::RustConnection;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Asks every window of this title on `display` to close; how many there are.
pub fn close(display: &str, title: &str) -> Result<usize> {
    let (x, screen) = x11rb::connect(Some(display))?;
    let root = x.setup().roots[screen].root;
    let protocols = atom(&x, "WM_PROTOCOLS")?;
    let delete = atom(&x, "WM_DELETE_WINDOW")?;
    let mut asked = 0;
    for window in x.query_tree(root)?.reply()?.children {
        if is_shown(&x, window)? && title_of(&x, window)? == title {
            let message = ClientMessageEvent::new(32, window, protocols, [delete, 0, 0, 0, 0]);
            x.send_event(false, window, EventMask::NO_EVENT, message)?;
            asked += 1;
        }
    }
    x.flush()?;
    Ok(asked)
}

fn is_shown(x: &RustConnection, window: Window) -> Result<bool> {
    let attributes = x.get_window_attributes(window)?.reply()?;
    Ok(attributes.map_state == x11rb::protocol::xproto::MapState::VIEWABLE)
}

fn title_of(x: &RustConnection, window: Window) -> Result<String> {
    let name = atom(x, "_NET_WM_NAME")?;
    let title = x.get_property(false, window, name, AtomEnum::ANY, 0, 256)?;
    Ok(String::from_utf8_lossy(&title.reply()?.value).into_owned())
}

fn atom(x: &RustConnection, name: &str) -> Result<Atom> {
    Ok(x.intern_atom(false, name.as_bytes())?.reply()?.atom)
}
