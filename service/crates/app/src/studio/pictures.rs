//! Prepares uploaded pictures, one after the other.

use tokio::sync::Semaphore;

use domain::experience::ImageType;
use domain::experience::picture::{PictureError, fit_now, thumbnail_now};

/// Pictures are decoded one at a time, so that their memory does not add up.
static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);

/// Prepares the picture in `bytes`, on a separate thread and after the pictures that came before
/// it.
pub async fn fit(
    bytes: impl AsRef<[u8]> + Send + 'static,
) -> Result<(ImageType, Vec<u8>), PictureError> {
    in_turn(move || fit_now(bytes.as_ref())).await
}

/// A small JPEG of the stored picture in `bytes`, at most `side` pixels on a side. It waits for its turn
/// as [`fit`] does.
pub async fn thumbnail(bytes: Vec<u8>, side: u32) -> Result<Vec<u8>, PictureError> {
    in_turn(move || thumbnail_now(&bytes, side)).await
}

async fn in_turn<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PictureError> + Send + 'static,
) -> Result<T, PictureError> {
    let turn = ONE_AT_A_TIME.acquire().await;
    let turn = turn.map_err(|_| PictureError::Ended)?;
    let done = tokio::task::spawn_blocking(move || {
        // If the caller goes away the work continues, so the turn must last as long as the work.
        let _turn = turn;
        work()
    });
    done.await.map_err(|_| PictureError::Ended)?
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::task::{Context, Waker};

    use image::{ImageFormat, RgbImage};

    use super::*;

    #[tokio::test]
    async fn pictures_are_read_one_at_a_time() {
        let mut bytes = Cursor::new(Vec::new());
        let picture = RgbImage::new(3, 3);
        picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
        let turn = ONE_AT_A_TIME.acquire().await.unwrap();
        let mut waiting = std::pin::pin!(fit(bytes.into_inner()));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        drop(turn);
        assert!(waiting.await.is_ok());
    }
}
