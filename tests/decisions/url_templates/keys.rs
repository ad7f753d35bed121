//! Keys that cannot be decrypted.

use super::*;

/// If only the keys of one inlay cannot be decrypted, its UID gets the same response as an unknown
/// one.
#[tokio::test]
async fn an_inlay_whose_own_keys_do_not_open_is_as_unknown_as_any_uid_sqlite() {
    let service = TestService::start_with(|options| options.database = "sqlite".to_owned()).await;
    let settings = settings("https://tags.example/v?u={uid}&n={counter}&c={mac}");
    let id = template(&service, &settings, &[]).await;
    let mut chips = [(); 3].map(|()| Chip::new(settings.clone(), aes("11", "22")));
    for chip in &chips[..2] {
        let tag = service.redirecting_tag(Value::Null).await;
        service.inlay(inlay_json(chip, id, Some(&tag))).await;
    }
    let [good, broken, unknown] = &mut chips;
    let file = rusqlite::Connection::open(service.folder().join("tapdesk.db")).unwrap();
    let sql = "UPDATE inlays SET file_key = randomblob(length(file_key)) WHERE uid = ?1";
    let changed = file.execute(sql, [broken.uid.bytes()]).unwrap();
    assert_eq!(changed, 1);
    let of_broken = open(&service, &broken.url(None)).await;
    let of_unknown = open(&service, &unknown.url(None)).await;
    assert_eq!(of_unknown.status, 404);
    assert_eq!(
        (of_broken.status, of_broken.body),
        (of_unknown.status, of_unknown.body)
    );
    assert_eq!(tap(&service, &good.url(None)).await.status, 302);
}
