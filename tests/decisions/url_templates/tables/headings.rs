//! Problems of rows name the columns as the file does.

use super::*;

/// The heading of the only column that the message about each row concerns, by row.
fn headings(result: &Value) -> Vec<(u64, &str)> {
    let results = result["results"].as_array().unwrap().iter();
    let named = results.filter_map(|row| {
        let columns = row["columns"].as_array()?;
        assert_eq!(columns.len(), 1, "{row}");
        let heading = columns[0]["heading"].as_str()?;
        Some((row["row"].as_u64()?, heading))
    });
    named.collect()
}

/// A person knows the headings of the file, and not Tapdesk's names for them.
#[tokio::test]
async fn a_problem_of_a_row_names_the_column_as_the_file_does() {
    let service = TestService::start().await;
    service
        .tag(json!({"name": "Bottle", "slug": "taken-0001"}))
        .await;
    let file = "Seriennummer;Bezeichnung;Chipnummer;Seite;Charge;Gedruckt\n\
                4.11E+12;A;;;;\n\
                bottle-0002;;;;;\n\
                bottle-0003;C;04A1;;;\n\
                bottle-0004;D;;Weg;;\n\
                bottle-0005;E;;;Wein;\n\
                bottle-0006;F;;;;vielleicht\n\
                bottle-0007;G;;;;true\n\
                bottle-0007;H;;;;\n\
                taken-0001;I;;;;\n\
                a1;J;;;;\n\
                bottle-0011;K;04112233445566;;;\n\
                bottle-0012;L;04112233445566;;;\n\
                (delete);M;;;;\n\
                bottle-0015;N\0;;;;\n";
    let map = "?technology=ntag213&map=Seriennummer:slug&map=Bezeichnung:name&map=Chipnummer:uid\
               &map=Seite:experience&map=Charge:group&map=Gedruckt:has_qr_code";
    let expected = [
        (2, "Seriennummer"),
        (3, "Bezeichnung"),
        (4, "Chipnummer"),
        (5, "Seite"),
        (6, "Charge"),
        (7, "Gedruckt"),
        (9, "Seriennummer"),
        (10, "Seriennummer"),
        (11, "Seriennummer"),
        (13, "Chipnummer"),
        (14, "Seriennummer"),
        (15, "Bezeichnung"),
    ];
    let dry = asked(&service, &format!("{map}&dry_run=true"), file).await;
    assert_eq!(headings(&dry.expect(200)), expected);
    let result = import(&service, map, file).await;
    assert_eq!(headings(&result), expected);
    assert_eq!(result["created"], 3, "{result}");
    let row = &result["results"][9];
    assert!(row["warning"].as_str().unwrap().contains("guessed"));
    let slug = json!([{"column": "slug", "heading": "Seriennummer"}]);
    assert_eq!(row["columns"], slug);

    // Unknown names that are ignored, and a slug that can be guessed: two columns.
    let ignored = "?unknown_experience=ignore&map=Id:slug&map=Seite:experience";
    let file = "Id;name;Seite\na2;N;Weg\n";
    let result = import(&service, ignored, file).await;
    let columns = json!([
        {"column": "slug", "heading": "Id"},
        {"column": "experience", "heading": "Seite"},
    ]);
    assert_eq!(result["results"][0]["columns"], columns);

    let whole = format!("{map}&on_error=abort");
    let file = "Seriennummer;Bezeichnung;Chipnummer;Seite;Charge;Gedruckt\na3;O;;;;\nb 3;P;;;;\n";
    let result = import(&service, &whole, file).await;
    assert_eq!(headings(&result), [(3, "Seriennummer")]);
}
