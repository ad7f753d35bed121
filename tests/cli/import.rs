//! `import` and `export`.

use std::fmt::Write as _;
use std::fs;

use super::{launch, run_at};

#[tokio::test]
async fn good_rows_go_in_and_each_bad_one_is_named() {
    let service = launch().start().await;
    let file = service.folder().join("tags.csv");
    fs::write(&file, "slug,name,variable:registered\nbottle-41,Bottle 41,false\nbottle-42,,\nbottle-43,Bottle 43,=1+1\n").unwrap();
    let import = ["import", file.to_str().unwrap()];

    let rehearsed = run_at(&service, &[&import[..], &["--dry-run"]].concat()).await;
    assert_eq!(rehearsed.code, Some(1));
    assert!(
        rehearsed.stdout.contains("2 tags would be created"),
        "{}",
        rehearsed.stdout
    );
    assert_eq!(
        service.admin_get("/tags").await["items"]
            .as_array()
            .unwrap()
            .len(),
        0
    );

    let none = run_at(&service, &[&import[..], &["--on-error", "abort"]].concat()).await;
    assert!(
        none.stdout
            .contains("0 tags created, 0 updated; 1 row refused, 2 left out."),
        "{}",
        none.stdout
    );
    assert_eq!(
        service.admin_get("/tags").await["items"]
            .as_array()
            .unwrap()
            .len(),
        0
    );

    let imported = run_at(&service, &import).await;
    assert_eq!(imported.code, Some(1), "a refused row is no success");
    assert!(
        imported.stdout.starts_with("row 3: "),
        "{}",
        imported.stdout
    );
    assert!(
        imported
            .stdout
            .contains("2 tags created, 0 updated; 1 row refused, 0 left out.")
    );
    assert!(
        imported.stderr.contains("1 row was refused"),
        "{}",
        imported.stderr
    );
}

#[tokio::test]
async fn what_was_exported_can_be_imported_again() {
    let service = launch().start().await;
    let file = service.folder().join("tags.csv");
    let mut rows = "slug,name,variable:registered\n".to_owned();
    for number in 0..1_200 {
        writeln!(
            rows,
            "bottle-{number:04},Bottle {number},\"=no \"\"formula\"\"\""
        )
        .unwrap();
    }
    fs::write(&file, rows).unwrap();
    let said = run_at(&service, &["import", file.to_str().unwrap()])
        .await
        .good();
    assert_eq!(
        said,
        "1200 tags created, 0 updated; 0 rows refused, 0 left out.\n"
    );

    let exported = service.folder().join("exported.csv");
    let export = ["export", exported.to_str().unwrap()];
    run_at(&service, &export).await.good();
    let text = fs::read_to_string(&exported).unwrap();
    assert_eq!(text.lines().count(), 1_201);
    assert!(text.contains("'=no"), "it runs nothing in a spreadsheet");
    assert_eq!(run_at(&service, &["export", "-"]).await.good(), text);
    let said = run_at(&service, &export).await.refused();
    assert!(said.contains("exists already"), "{said}");

    let other = launch().start().await;
    let import = ["import", exported.to_str().unwrap()];
    run_at(&other, &import).await.good();
    assert_eq!(run_at(&other, &["export", "-"]).await.good(), text);
    let again = run_at(&other, &[&import[..], &["--mode", "upsert"]].concat())
        .await
        .good();
    assert!(again.starts_with("0 tags created, 1200 updated"), "{again}");
}

#[tokio::test]
async fn what_is_deleted_is_said_before_and_after() {
    let service = launch().start().await;
    let file = service.folder().join("tags.csv");
    fs::write(
        &file,
        "slug,name,variable:owner\nbottle-41,Bottle 41,Ann\nbottle-42,Bottle 42,\n",
    )
    .unwrap();
    let import = ["import", file.to_str().unwrap()];
    run_at(&service, &import).await.good();
    fs::write(
        &file,
        "slug,variable:owner,experience\nbottle-41,(delete),Lost\nbottle-42,,\n",
    )
    .unwrap();

    let upsert = [&import[..], &["--mode", "upsert"]].concat();
    let said = run_at(&service, &upsert).await;
    assert!(
        said.stdout
            .contains("row 2: There is no experience named \"Lost\"."),
        "{}",
        said.stdout
    );
    let upsert = [&upsert[..], &["--unknown-experience", "ignore"]].concat();
    for (dry, deleted) in [
        (true, "1 value of tags would be deleted."),
        (false, "1 value of tags deleted."),
    ] {
        let dry = if dry { &["--dry-run"][..] } else { &[] };
        let said = run_at(&service, &[&upsert[..], dry].concat()).await.good();
        assert!(said.contains("row 2: deletes variable:owner\n"), "{said}");
        assert!(said.contains(deleted), "{said}");
    }
    let said = run_at(&service, &upsert).await.good();
    assert!(!said.contains("deleted"), "it is gone already: {said}");
}

#[tokio::test]
async fn a_file_that_is_none_is_refused_in_words() {
    let service = launch().start().await;
    let said = run_at(&service, &["import", "/nowhere/tags.csv"])
        .await
        .refused();
    assert!(said.contains("cannot be read"), "{said}");
    let file = service.folder().join("tags.csv");
    fs::write(&file, "colour\nred\n").unwrap();
    run_at(&service, &["import", file.to_str().unwrap()])
        .await
        .refused();
}
