//! A ZIP that is taken piece by piece while it is written.

use std::fmt;
use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

use crate::print_error::PrintError;

/// A ZIP that is being written.
pub(crate) struct Archive {
    zip: ZipWriter<StreamWriter<Pipe>>,
    pipe: Pipe,
}

impl Archive {
    pub(crate) fn new() -> Self {
        let pipe = Pipe::default();
        Self {
            zip: ZipWriter::new_stream(pipe.clone()),
            pipe,
        }
    }

    /// Adds a whole file.
    pub(crate) fn add(
        &mut self,
        name: String,
        method: CompressionMethod,
        bytes: &[u8],
    ) -> Result<(), PrintError> {
        let options = SimpleFileOptions::default().compression_method(method);
        self.zip.start_file(name, options).map_err(not_zipped)?;
        self.zip.write_all(bytes).map_err(not_zipped)
    }

    /// The bytes that were written since the last call.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.pipe.take()
    }

    /// Ends the archive, and returns its last bytes.
    pub(crate) fn finish(self) -> Result<Vec<u8>, PrintError> {
        self.zip.finish().map_err(not_zipped)?;
        Ok(self.pipe.take())
    }
}

fn not_zipped(error: impl fmt::Display) -> PrintError {
    PrintError::Failed(format!("The ZIP cannot be written: {error}."))
}

/// Bytes that were written and not yet taken.
#[derive(Clone, Default)]
struct Pipe(Arc<Mutex<Vec<u8>>>);

impl Pipe {
    fn take(&self) -> Vec<u8> {
        mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
