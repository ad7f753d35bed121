//! The description of the desktop for software centres (`AppStream`).

use std::path::Path;
use std::process::Command;

use serde_json::Value;

const FILE: &str = "src-tauri/linux/app.tapdesk.desktop.metainfo.xml";

#[test]
fn software_centres_learn_the_names_that_the_package_has() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join(FILE)).unwrap();
    let package = std::fs::read_to_string(root.join("tauri.conf.json")).unwrap();
    let package: Value = serde_json::from_str(&package).unwrap();
    let named = |member: &str| package[member].as_str().expect("a name").to_owned();
    for part in [
        format!("<id>{}</id>", named("identifier")),
        format!("<name>{}</name>", named("productName")),
        // Tauri names the menu entry after the product, and the icon after the program.
        format!(">{}.desktop</launchable>", named("productName")),
        format!("<icon type=\"stock\">{}</icon>", named("mainBinaryName")),
        format!("<binary>{}</binary>", named("mainBinaryName")),
    ] {
        assert!(text.contains(&part), "no {part} in {FILE}");
    }
    let target = format!("/usr/share/metainfo/{}.metainfo.xml", named("identifier"));
    assert_eq!(package["bundle"]["linux"]["deb"]["files"][target], FILE);
}

#[test]
fn appstream_finds_nothing_wrong_with_the_description() {
    let validated = Command::new("appstreamcli")
        .args(["validate", "--no-net"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE))
        .output();
    let Ok(validated) = validated else {
        return tapdesk_tests::skip("AppStream is not installed");
    };
    let said = String::from_utf8_lossy(&validated.stdout);
    assert!(validated.status.success(), "{said}");
}
