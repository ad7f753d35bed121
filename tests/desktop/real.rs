//! The desktop in its real window, as a person uses it.

mod elsewhere;
mod kiosk;
mod reader;
mod stories;
mod studio;
mod window;

use std::fs;
use std::net::TcpListener;

use elsewhere::Elsewhere;
use fantoccini::Locator;
use serde_json::{Value, json};
use tapdesk_tests::{Client, TestService, eventually, within_attempts};
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
    // This session has no bus and so no keychain: the settings say so.
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
    window.see("//main//a[normalize-space()='Bottle 41']").await;
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
async fn its_content_is_scaled_by_keys_and_after_a_restart() {
    let desk = Desk::new();
    let window = desk.open_ready().await;
    let width = async |window: &Window| window.value_of("innerWidth").await.as_f64().unwrap();
    let normal = width(&window).await;
    for _ in 0..3 {
        window.command('+').await;
    }
    let is_larger = async |window: &Window| {
        let larger = width(window).await * 1.5;
        ((larger - normal).abs() < 3.0).then_some(())
    };
    eventually("150 % is shown", async || is_larger(&window).await).await;
    // The driver's clicks ignore the scale.
    window
        .value_of("(location.hash = '#/settings/appearance', null)")
        .await;
    let scale = "document.querySelector('label.scale select').value";
    window.see("//label[contains(., 'Scale')]//select").await;
    assert_eq!(window.value_of(scale).await, "150");
    window.leave_picture("scaled").await;
    window.quit().await;

    let window = desk.open_ready().await;
    eventually("it is still 150 %", async || is_larger(&window).await).await;
    window.command('0').await;
    eventually("it is the normal size", async || {
        ((width(&window).await - normal).abs() < 3.0).then_some(())
    })
    .await;
    window.quit().await;
}

/// The line that tells of an outage.
const LOST: &str = "//*[@role='alert'][contains(., 'Shop does not answer')]";

/// The number of lines that tell of an outage. The service is back at the end.
async fn complaints_of(window: &Window, shop: &mut Elsewhere, hangs: bool) -> usize {
    if hangs {
        shop.signal("STOP");
    } else {
        shop.kill();
    }
    window.see(LOST).await;
    window.press("//nav//a[normalize-space()='Inlays']").await;
    window.see("//h1[normalize-space()='Inlays']").await;
    window.press("//nav//a[normalize-space()='Tags']").await;
    window.see("//h1[normalize-space()='Tags']").await;
    let text = window.value_of("document.body.innerText").await;
    println!("{text:#}");
    if hangs {
        shop.signal("CONT");
    } else {
        shop.start_again();
    }
    window
        .see("//main//a[normalize-space()='In the shop']")
        .await;
    eventually("the line is gone", async || {
        let lines = window.find_all(Locator::XPath(LOST)).await.ok()?;
        lines.is_empty().then_some(())
    })
    .await;
    text.as_str().unwrap().matches("does not answer").count()
}

#[tokio::test]
async fn a_remote_service_that_dies_is_one_line_until_it_is_back() {
    let mut shop = Elsewhere::start();
    let client = Client::new(shop.base.as_str(), shop.token());
    client
        .admin_create("/tags", json!({"name": "In the shop"}))
        .await;
    let desk = Desk::new();
    let window = desk.open_ready().await;
    let connect = format!(
        "window.__TAURI_INTERNALS__.invoke('add_connection', {{name: 'Shop', url: '{}', token: '{}'}}) \
         .then(({{id}}) => window.__TAURI_INTERNALS__.invoke('connect', {{id}}))",
        shop.base,
        shop.token()
    );
    assert_eq!(window.value_of(&connect).await, Value::Null);
    window.press("//nav//a[normalize-space()='Tags']").await;
    window
        .see("//main//a[normalize-space()='In the shop']")
        .await;

    for hangs in [false, true] {
        // A page waits for the shell's notice for some seconds. If a busy machine delays the notice,
        // the page has a message of its own.
        within_attempts(5, async || {
            match complaints_of(&window, &mut shop, hangs).await {
                1 => Ok(()),
                complaints => Err(complaints),
            }
        })
        .await;
    }
    window.quit().await;
}

#[tokio::test]
async fn a_port_that_a_chip_leads_to_is_left_only_by_a_click_and_named_until_it_is_back() {
    const MOVED: &str =
        "//*[@role='alert'][contains(normalize-space(), '1 chip no longer reaches it')]";
    let desk = Desk::new();
    let window = desk.open_ready().await;
    let (_, tag) = window
        .call("POST", "/admin/v1/tags", &json!({"name": "Bottle 41"}))
        .await;
    let chip = json!({"uid": "04A1B2C3D4E580", "technology": "ntag213", "tag_id": tag["id"]});
    let (status, _) = window.call("POST", "/admin/v1/inlays", &chip).await;
    assert_eq!(status, 201);
    let address = window.find_text("//header//code").await;
    window.quit().await;
    let other = TcpListener::bind(&address).unwrap();
    let (_, port) = address.rsplit_once(':').unwrap();

    let window = desk.open().await;
    let title = window.find_text("//*[@role='alert']//h1").await;
    assert_eq!(title, format!("Port {port} is used by another program."));
    window
        .see("//p[contains(normalize-space(), 'On another port, 1 chip does not work')]")
        .await;
    window
        .press("//button[starts-with(normalize-space(), 'Use port')]")
        .await;
    window.see(MOVED).await;
    window.press("//nav//a[normalize-space()='Tags']").await;
    window.see(MOVED).await;
    drop(other);
    window.click_named(&format!("Return to port {port}")).await;
    eventually("it is back", async || {
        let lines = window.find_all(Locator::XPath(MOVED)).await.ok()?;
        lines.is_empty().then_some(())
    })
    .await;
    assert_eq!(window.find_text("//header//code").await, address);
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
        let heard = window
            .value_of("window.heard.find((event) => event.event === 'interaction') ?? null")
            .await;
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
        // Closing the question without an answer changes nothing.
        (desk.close("Close Tapdesk?") == 1).then_some(())
    })
    .await;
    // While the question is open, the window gets no input.
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

/// In the terminal of an editor that is a snap, these folders are replaced. Without the system's
/// schemas, `GLib` ended the program at its first file dialog.
#[tokio::test]
async fn file_dialogs_open_in_the_terminal_of_an_editor_that_is_a_snap() {
    let mut desk = Desk::new();
    desk.set("XDG_DATA_DIRS", "/snap/code/191/usr/share");
    desk.set(
        "GTK_PATH",
        "/snap/code/191/usr/lib/x86_64-linux-gnu/gtk-3.0",
    );
    desk.set("GIO_MODULE_DIR", "/snap/code/191/gio-modules");
    let window = desk.open_ready().await;
    let before = desk.hands().windows().len();
    window
        .value_of(
            "void window.__TAURI_INTERNALS__.invoke('save_file', new Uint8Array([65]), \
             {headers: {'x-file-name': 'tags.csv'}})",
        )
        .await;
    eventually("the dialog is shown", async || {
        (desk.hands().windows().len() > before).then_some(())
    })
    .await;
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
        .press("//*[@role='row'][contains(., 'Shop')]//button[normalize-space()='Connect']")
        .await;
    let base = shop.base();
    window
        .see(&format!(
            "//header//*[contains(@class, 'address') and contains(., '{base}')]"
        ))
        .await;
    window.press("//nav//a[normalize-space()='Tags']").await;
    window
        .see("//main//a[normalize-space()='In the shop']")
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
        .see("//main//a[normalize-space()='Made from afar']")
        .await;
    assert_eq!(shop.admin_get("/tags?count=true").await["count"], 2);

    let page = window.source().await.unwrap();
    assert!(
        !page.contains(shop.admin_token()),
        "the token is not in the page"
    );
    window.quit().await;

    let window = desk.open_ready().await;
    // Each start begins on this page.
    window.see("//header[contains(., 'listening')]").await;
    window.quit().await;
}

async fn failed(window: &Window, expression: &str) -> bool {
    window.value_of(expression).await.get("failed").is_some()
}
