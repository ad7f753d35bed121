//! The future of a tap is copied to the heap for each request, with room for everything that it may
//! await. Futures that few taps need are therefore boxed within it.

use super::named::tests::service;
use super::*;

/// Most bytes of the future.
const FUTURE_MAX: usize = 6 * 1024;

#[tokio::test]
async fn the_future_of_a_tap_is_small() {
    let folder = tempfile::tempdir().unwrap();
    let service = service(&folder).await;
    let visitor = Visitor::default();
    let tap = Tap {
        place: Place::Slug {
            slug: String::new(),
            path: String::new(),
        },
        query: "",
        cookie: None,
        reload: false,
        client: Client([0; 16]),
        country: String::new(),
        visitor: &visitor,
        origin: TapOrigin::Visitor,
    };
    let bytes = size_of_val(&super::tap(&service, tap));
    assert!(bytes <= FUTURE_MAX, "{bytes} bytes");
}
