//! The desktop as a person meets it: in its real window.

mod kiosk;
mod reader;
mod stories;
mod studio;
mod window;

use std::fs;
use std::net::TcpListener;

use serde_json::{Value, json};
use tapdesk_tests::{Client, TestService, eventually};
use window::{Desk, PROGRAM, Window};

const SCREENS: [&str; 10] = [
    "Overview",
    "Tags",
    "Experiences",
    "Interactions",
    "Inlays",
    "URL templates",
    "Reader",
    "Test sheets",
    "Simulator",
    "Settings",
];

#[tokio::test]
async fn it_opens_on_the_overview_and_every_screen_keeps_to_the_policy() {
    let desk = Desk::new();
    let window = desk.open_ready().await;
    window.see("//h1[normalize-space()='Overview']").await;
    let address = window.find_text("//header//code").await;
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let watch = "(window.broken = [], document.addEventListener('securitypolicyviolation', \
                 event => window.broken.push(`${event.violatedDirective} ${event.blockedURI}`)), null)";
    window.value_of(watch).await;
    for screen in SCREENS {
        window
            .press(&format!("//nav//a[normalize-space()='{screen}']"))
            .await;
        window
            .see(&format!("//h1[normalize-space()='{screen}']"))
            .await;
    }
    assert_eq!(window.value_of("window.broken").await, json!([]));
    // There is no session bus here, so no keychain either: the settings say so.
    window.click_named("About").await;
    window
        .see("//dd[contains(., 'which only you may read')]")
        .await;
    window.quit().await;
}

#[tokio::test]
async fn without_a_gpu_no_program_stands_in_for_one() {
    let devices = fs::read_dir("/dev/dri").into_iter().flatten().flatten();
    let mut devices = devices.map(|device| device.file_name().to_string_lossy().into_owned());
    let has_gpu = devices.any(|name| name.starts_with("renderD"));
    let desk = Desk::new();
    let window = desk.open_ready().await;
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", window.process));
    let children = children.expect("the kernel tells them");
    let mut environments = children.split_whitespace().map(|child| {
        let environment = fs::read(format!("/proc/{child}/environ"));
        String::from_utf8_lossy(&environment.unwrap_or_default()).into_owned()
    });
    let of_webkit = environments.find(|environment| environment.contains("TAURI_WEBVIEW"));
    let of_webkit = of_webkit.expect("WebKit's processes are the window's children");
    let without_opengl = of_webkit.contains("WEBKIT_DISABLE_DMABUF_RENDERER=1");
    assert_eq!(without_opengl, !has_gpu);
    window.quit().await;
}

#[tokio::test]
async fn a_restart_finds_everything() {
    let desk = Desk::new();
    let window = desk.open_ready().await;
    let (status, tag) = window
        .call("POST", "/admin/v1/tags", &json!({"name": "Bottle 41"}))
        .await;
    assert_eq!(status, 201, "{tag}");
    let address = window.find_text("//header//code").await;
    window.quit().await;
    assert!(
        !desk.database().with_file_name("tapdesk.db-wal").exists(),
        "closed well"
    );

    let window = desk.open_ready().await;
    assert_eq!(window.find_text("//header//code").await, address);
    window.press("//nav//a[normalize-space()='Tags']").await;
    window
        .see("//main//a//*[normalize-space()='Bottle 41']")
        .await;
    window.quit().await;
}

#[tokio::test]
async fn a_second_start_brings_the_first_to_the_front_and_ends() {
    let mut desk = Desk::new();
    desk.start_bus();
    let window = desk.open_ready().await;
    let second = desk.command(PROGRAM).output().unwrap();
    assert!(second.status.success(), "{second:?}");
    eventually("the first is told", async || {
        desk.log().contains("brought to the front").then_some(())
    })
    .await;
    let (status, _) = window.call("GET", "/admin/v1/tags", &Value::Null).await;
    assert_eq!(status, 200, "the first goes on");
    window.quit().await;
}

#[tokio::test]
async fn a_port_in_use_is_a_screen_with_a_way_out() {
    let desk = Desk::new();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    desk.prefer(&json!({"port": port}));
    let window = desk.open().await;
    let title = window.find_text("//*[@role='alert']//h1").await;
    assert_eq!(title, format!("Port {port} is used by another program."));
    window
        .press("//button[starts-with(normalize-space(), 'Use port')]")
        .await;
    window.see("//h1[normalize-space()='Overview']").await;
    let address = window.find_text("//header//code").await;
    assert!(address.starts_with("127.0.0.1:"));
    assert_ne!(address, format!("127.0.0.1:{port}"));
    window.quit().await;
}

#[tokio::test]
async fn a_damaged_database_is_a_screen_with_a_way_out() {
    let desk = Desk::new();
    desk.open_ready().await.quit().await;
    let mut content = fs::read(desk.database()).unwrap();
    content[4096..].fill(0xff);
    fs::write(desk.database(), &content).unwrap();

    let window = desk.open().await;
    let title = window.find_text("//*[@role='alert']//h1").await;
    assert_eq!(title, "The database is damaged.");
    assert_eq!(fs::read(desk.database()).unwrap(), content, "left as it is");
    window.click_named("Create new database").await;
    window.see("//h1[normalize-space()='Overview']").await;
    let folder = fs::read_dir(desk.database().parent().unwrap()).unwrap();
    let names = folder.map(|file| file.unwrap().file_name().into_string().unwrap());
    let is_aside = |name: &String| {
        let number = name.strip_prefix("tapdesk.db.replaced-at-");
        number.is_some_and(|number| number.parse::<u64>().is_ok())
    };
    let kept = names.filter(is_aside).count();
    assert_eq!(kept, 1, "moved aside, never deleted");
    window.quit().await;
}

#[tokio::test]
async fn a_tap_reaches_the_page_as_it_happens() {
    let desk = Desk::new();
    let window = desk.open_ready().await;
    let bottle = json!({"name": "Bottle 41"});
    let (_, tag) = window.call("POST", "/admin/v1/tags", &bottle).await;
    let address = window.find_text("//header//code").await;
    let listen = "(window.heard = [], window.__TAURI_INTERNALS__.invoke('live_events', {connection: 'embedded', channel: \
                  '__CHANNEL__:' + window.__TAURI_INTERNALS__.transformCallback( \
                  told => window.heard.push(told.message))}))";
    window.value_of(listen).await;

    let visitor = Client::new(format!("http://{address}"), "");
    let path = format!("/t/{}", tag["slug"].as_str().unwrap());
    let heard = eventually("the tap is heard", async || {
        let answer = visitor.get(&path).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let heard = window.value_of("window.heard[0] ?? null").await;
        (!heard.is_null()).then_some(heard)
    })
    .await;
    assert_eq!(heard["event"], "interaction");
    assert_eq!(heard["tag_id"], tag["id"]);
    window.quit().await;
}

#[tokio::test]
async fn closing_the_window_ends_it_and_asks_only_where_something_would_be_lost() {
    let desk = Desk::new();
    let window = desk.open_ready().await;
    window.value_of(&unsaved(true)).await;
    assert_eq!(desk.close("Tapdesk"), 1);
    eventually("it asks", async || {
        // Closed without an answer, the question changes nothing.
        (desk.close("Close Tapdesk?") == 1).then_some(())
    })
    .await;
    // As long as it is there, the window hears nothing.
    eventually("the question is gone", async || {
        (desk.close("Close Tapdesk?") == 0).then_some(())
    })
    .await;
    window.see("//nav[@aria-label='Screens']").await;

    window.value_of(&unsaved(false)).await;
    assert_eq!(desk.close("Tapdesk"), 1);
    window.gone().await;
    assert!(
        !desk.database().with_file_name("tapdesk.db-wal").exists(),
        "closed well"
    );
}

fn unsaved(unsaved: bool) -> String {
    format!("window.__TAURI_INTERNALS__.invoke('set_unsaved', {{unsaved: {unsaved}}})")
}

#[tokio::test]
async fn the_window_loads_nothing_else_and_leads_nowhere_else() {
    let desk = Desk::new();
    let window = desk.open_ready().await;
    let tries = |expression: &'static str| async { failed(&window, expression).await };
    for blocked in [
        "fetch('https://example.com/')",
        "fetch('http://127.0.0.1:1/')",
        "new Promise((done, fail) => { const image = new Image(); image.onload = done; \
         image.onerror = () => fail('blocked'); image.src = 'http://127.0.0.1:1/a.png'; })",
        "new Promise((done, fail) => { const script = document.createElement('script'); \
         script.onload = done; script.onerror = () => fail('blocked'); \
         script.src = 'https://example.com/a.js'; document.head.append(script); })",
        "window.__TAURI_INTERNALS__.invoke('plugin:dialog|open', {})",
        "window.__TAURI_INTERNALS__.invoke('plugin:window-state|save_window_state', {flags: 1})",
    ] {
        assert!(tries(blocked).await, "{blocked}");
    }
    let before = window.current_url().await.unwrap();
    for away in [
        "void (location.href = 'https://example.com/')",
        "void (location.href = 'tapdesk://localhost/health')",
        "void (location.href = 'data:text/html,elsewhere')",
        "void window.open('https://example.com/')",
    ] {
        window.value_of(away).await;
        assert_eq!(window.current_url().await.unwrap(), before, "{away}");
    }
    assert_eq!(window.windows().await.unwrap().len(), 1);
    window.see("//nav[@aria-label='Screens']").await;
    window.quit().await;
}

#[tokio::test]
async fn a_remote_service_is_shown_and_asked_before_its_first_change_until_the_next_start() {
    let shop = TestService::start().await;
    shop.tag(json!({"name": "In the shop"})).await;
    let desk = Desk::new();
    let window = desk.open_ready().await;
    window.press("//nav//a[normalize-space()='Settings']").await;
    window.click_named("Connections").await;
    window.fill("Name", "Shop").await;
    window.fill("Server URL", shop.base()).await;
    window.fill("Token", shop.admin_token()).await;
    window.click_named("Add connection").await;
    window
        .press("//*[@role='listitem'][contains(., 'Shop')]//button[normalize-space()='Connect']")
        .await;
    let base = shop.base();
    window
        .see(&format!(
            "//header//*[contains(@class, 'address') and contains(., '{base}')]"
        ))
        .await;
    window.press("//nav//a[normalize-space()='Tags']").await;
    window
        .see("//main//a//*[normalize-space()='In the shop']")
        .await;

    window.click_named("New tag").await;
    window.fill("Name", "Made from afar").await;
    window.click_named("Create").await;
    window
        .see("//*[@role='dialog']//*[normalize-space()='Allow changes to Shop?']")
        .await;
    assert_eq!(shop.admin_get("/tags?count=true").await["count"], 1);
    window.click_named("Allow changes").await;
    window
        .see("//main//a//*[normalize-space()='Made from afar']")
        .await;
    assert_eq!(shop.admin_get("/tags?count=true").await["count"], 2);

    let page = window.source().await.unwrap();
    assert!(
        !page.contains(shop.admin_token()),
        "the token is not in the page"
    );
    window.quit().await;

    let window = desk.open_ready().await;
    // Each start begins here.
    window.see("//header[contains(., 'listening')]").await;
    window.quit().await;
}

async fn failed(window: &Window, expression: &str) -> bool {
    window.value_of(expression).await.get("failed").is_some()
}
