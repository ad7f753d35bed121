//! Tables as people have them: most are from public threads of people who import them, byte for
//! byte.

use std::fmt::Write as _;
use std::sync::LazyLock;

/// UIDs that a spreadsheet turned into numbers (sqlitebrowser/sqlitebrowser#160,
/// dilshod/xlsx2csv#85, OpenRefine/OpenRefine#308, bloom-housing/bloom#4458,
/// microsoftgraph/powershell-intune-samples#140). They were 04112233445566, 04112233445566,
/// 0452123456E012 and 04A1B2C3D4E580.
pub const NUMBERS: &str = "name,uid,technology\r\nA,4.11223E+12,ntag213\r\nB,4112233445566,ntag213\r\nC,4.52123E+20,ntag213\r\nD,04A1B2C3D4E580,ntag213\r\n";

/// Counters as they are in the URLs of chips (community.nxp.com, thread 535033): 33 and 30.
pub const COUNTERS: &str = "name,serial number,chip,read counter\r\nA,044B6A4A4E6880,ntag424dna,000021\r\nB,04494ACAFD1990,ntag424dna,00001E\r\n";

/// Excel's "Unicode text" (directus/directus#12970).
pub static UNICODE_TEXT: LazyLock<Vec<u8>> =
    LazyLock::new(|| utf16("\u{feff}slug\tname\r\nbottle-0001\tKäse\r\n"));

/// The same with semicolons.
pub static UTF_16_SEMICOLONS: LazyLock<Vec<u8>> =
    LazyLock::new(|| utf16("\u{feff}slug;name\r\nbottle-0001;Käse\r\n"));

/// The same with tabs, in UTF-8.
pub static UTF_8_TABS: LazyLock<Vec<u8>> =
    LazyLock::new(|| "slug\tname\r\nbottle-0001\tKäse\r\n".into());

/// A table of ixkio with one byte of Windows-1252 (TablePress/TablePress#198).
pub const NOT_UTF_8: &[u8] = b"xuid;tagname;response\r\nk3v9qa2b;K\xe4se;https://a.example/1\r\nk3v9qa2c;Brot;https://a.example/2\r\n";

/// A table of ixkio with an unquoted comma, and a row that is cut off (TablePress/TablePress#198).
pub const TOO_MANY_CELLS: &[u8] =
    b"xuid,tagname,response\r\nk3v9qa2b,Red, large,https://a.example/x\r\nk3v9qa2c\r\n";

/// A card with its five keys (lnbits/lnbits#1329, boltcard/bolt-nfc-android-app#50,
/// dennisreimann/btcpayserver-plugin-lnbank#60). K1 and K2 are those of boltcard's published
/// vector.
pub const BOLTCARD_KEYS: &str = "card_name,uid,k0,k1,k2,k3,k4,last_counter_value\r\nCard 1,04996C6A926980,11111111111111111111111111111111,0c3b25d92b38ae443229dd59ad34b85d,b45775776cb224c75bcde7ca3704e933,33333333333333333333333333333333,44444444444444444444444444444444,3\r\n";

/// The same card in the table `cards` of a boltcard server (boltcard/boltcard,
/// `sql/create_db.sql`). K1 is a setting of that server, and no column.
pub const BOLTCARD_SERVER: &str = "card_id,k0_auth_key,k2_cmac_key,k3,k4,uid,last_counter_value,card_name\r\n1,11111111111111111111111111111111,b45775776cb224c75bcde7ca3704e933,33333333333333333333333333333333,44444444444444444444444444444444,04996C6A926980,3,Card 1\r\n";

/// The same card in the table of `LNbits` (lnbits/boltcards, `migrations.py`). Its URL ends with
/// its `external_id`.
pub const LNBITS: &str = "uid,external_id,card_name,k0,k1,k2,counter\r\n04996C6A926980,QBxk9WLpzYwXrbPnkBKhzC,Card 1,11111111111111111111111111111111,0c3b25d92b38ae443229dd59ad34b85d,b45775776cb224c75bcde7ca3704e933,3\r\n";

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// 5,000 bottles of two wines as a German Excel saves them: semicolons, Windows-1252, and headings
/// of the owner. The column `Charge` has the path of a batch. A thousand numbers share its name
/// (`L03` from 3,000), and odd numbers are white.
pub fn german_bottles() -> Vec<u8> {
    let mut text = String::from("Bezeichnung;Seriennummer;Farbe;Charge\r\n");
    for number in 1..=5_000 {
        let (wine, colour) = match number % 2 {
            0 => ("Château Rouge", "rot"),
            _ => ("Weißer Riesling – trocken", "weiß"),
        };
        let lot = number / 1_000;
        writeln!(
            text,
            "Flasche {number};SN-{number:06};{colour};Weine / {wine} / L0{lot}\r"
        )
        .expect("a string takes every text");
    }
    // All other letters of this table have the same number in Windows-1252 and in Unicode.
    let bytes = text.chars().map(|letter| match letter {
        '–' => 0x96,
        letter => u8::try_from(u32::from(letter)).expect("a letter of Windows-1252"),
    });
    bytes.collect()
}
