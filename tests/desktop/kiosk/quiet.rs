//! Readers in the kiosk: no beep, and no light.

use tapdesk_tests::eventually;
use tapdesk_tests::virtual_card::type2::{PassesOn, Type2Chip, VirtualType2};

use super::{ATTRACT, Hall};

#[tokio::test]
async fn a_reader_is_quiet_in_the_kiosk_although_its_owner_wants_beep_and_light() {
    // Beep and light are the owner's choice, as nobody changed it.
    let (mut hall, _) = Hall::set_up(60).await;
    let readers = hall.desk.readers_mut();
    readers.restart_as("ACS ACR122U PICC Interface");
    let url = "https://elsewhere.example/a";
    let chip = VirtualType2::with_url(Type2Chip::Ntag215, [4, 1, 2, 3, 4, 5, 9], url);
    let signals = chip.signals();
    // It is on the reader before the kiosk is shown.
    let laid = readers.lay_down(chip.on_reader(PassesOn::ByController));
    let window = hall.desk.open_with(&["--kiosk"]).await;
    eventually("the reader is made quiet", async || {
        (!signals.all().is_empty()).then_some(())
    })
    .await;
    let chip = laid.take_away();
    window.see(ATTRACT).await;
    let laid = hall.desk.readers().lay_down(chip);
    window
        .see("//*[@role='status'][contains(., 'another site')]")
        .await;
    laid.take_away();
    // Its own beep was switched off, and it got nothing else.
    let own_beep_off = vec![0xFF, 0x00, 0x52, 0x00, 0x00];
    assert_eq!(signals.all(), [own_beep_off]);
    window.quit().await;
}
