//! Programs that render files of labels, and read their codes.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::imageops::FilterType;
use image::{GenericImageView as _, GrayImage, Luma, Rgb, RgbImage};

/// Resolution at which pages are rendered: that of an office printer.
const DPI: f64 = 300.0;

pub(super) type Page = GrayImage;

/// A two-coloured picture as base64.
pub(super) fn logo() -> String {
    let picture = RgbImage::from_fn(48, 40, |x, y| {
        if (x / 12 + y / 10) % 2 == 0 {
            Rgb([150, 20, 40])
        } else {
            Rgb([240, 220, 120])
        }
    });
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture
        .write_to(&mut bytes, image::ImageFormat::Png)
        .unwrap();
    BASE64_STANDARD.encode(bytes.into_inner())
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> Vec<u8> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        // Its threads wait for each other by spinning, and other tests need the cores.
        .env("OMP_NUM_THREADS", "1")
        .output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() || program == "zbarimg",
        "{program}: {said}"
    );
    output.stdout
}

fn files(folder: &Path, ending: &str) -> Vec<std::path::PathBuf> {
    let found = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = found
        .filter(|path| path.extension().is_some_and(|e| e == ending))
        .collect();
    found.sort();
    found
}

/// The pages of a PDF, rendered by poppler.
pub(super) fn pages(pdf: &[u8]) -> Vec<Page> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("labels.pdf"), pdf).unwrap();
    run(
        "pdftoppm",
        &["-r", "300", "-gray", "labels.pdf", "page"],
        folder.path(),
    );
    let pages = files(folder.path(), "pgm");
    pages
        .iter()
        .map(|page| pgm(&fs::read(page).unwrap()))
        .collect()
}

/// Reads a PGM without comments: `P5`, width, height, 255, and a byte for each pixel.
fn pgm(bytes: &[u8]) -> Page {
    let mut at = 0;
    let mut word = || {
        let start = at;
        while !bytes[at].is_ascii_whitespace() {
            at += 1;
        }
        at += 1;
        std::str::from_utf8(&bytes[start..at - 1])
            .unwrap()
            .to_owned()
    };
    let (kind, width, height, max) = (word(), word(), word(), word());
    assert_eq!((&*kind, &*max), ("P5", "255"));
    let pixels = bytes[at..].to_vec();
    GrayImage::from_raw(width.parse().unwrap(), height.parse().unwrap(), pixels).unwrap()
}

/// A rectangle of a page.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixels of a page"
)]
pub(super) fn cut(page: &Page, at_mm: [f64; 2], size_mm: [f64; 2]) -> Page {
    let [x, y, w, h] =
        [at_mm[0], at_mm[1], size_mm[0], size_mm[1]].map(|mm| (mm * DPI / 25.4) as u32);
    assert!(
        x + w <= page.width() && y + h <= page.height(),
        "the label is on the page"
    );
    page.view(x, y, w, h).to_image()
}

/// An SVG, rendered by rsvg.
pub(super) fn svg(svg: &[u8]) -> Page {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("label.svg"), svg).unwrap();
    let arguments = [
        "--dpi-x",
        "300",
        "--dpi-y",
        "300",
        "-o",
        "label.png",
        "label.svg",
    ];
    run("rsvg-convert", &arguments, folder.path());
    png(&fs::read(folder.path().join("label.png")).unwrap())
}

pub(super) fn png(bytes: &[u8]) -> Page {
    image::load_from_memory(bytes).unwrap().to_luma8()
}

/// The files of a ZIP, read by Python.
pub(super) fn zip(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    const READER: &str = "import base64, io, json, sys, zipfile\n\
        z = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))\n\
        assert z.testzip() is None\n\
        print(json.dumps([(n, base64.b64encode(z.read(n)).decode()) for n in z.namelist()]))";
    let mut python = Command::new("python3")
        .args(["-c", READER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = python.stdin.take().unwrap();
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let files: Vec<(String, String)> = serde_json::from_slice(&output.stdout).unwrap();
    let files = files.into_iter();
    files
        .map(|(name, data)| (name, BASE64_STANDARD.decode(data).unwrap()))
        .collect()
}

/// The labels of a ZPL file: its graphic fields, decoded as Zebra's manual describes `^GF` with
/// compressed ASCII.
pub(super) fn zpl(text: &str) -> Vec<Page> {
    let labels = text.split("^XA").skip(1);
    labels
        .map(|label| field(label.split("^GFA,").nth(1).unwrap()))
        .collect()
}

fn field(text: &str) -> Page {
    let data = text.split("^FS").next().unwrap();
    let mut parts = data.splitn(4, ',');
    let number = |text: Option<&str>| text.unwrap().parse::<usize>().unwrap();
    let (all, _, row_bytes) = (number(parts.next()), parts.next(), number(parts.next()));
    let row_digits = row_bytes * 2;
    let mut rows: Vec<String> = Vec::new();
    let (mut row, mut count) = (String::new(), 0);
    for c in parts.next().unwrap().chars() {
        match c {
            'G'..='Y' => count += usize::from(c as u8 - b'G') + 1,
            'g'..='z' => count += (usize::from(c as u8 - b'g') + 1) * 20,
            ',' => row += &"0".repeat(row_digits - row.len()),
            '!' => row += &"F".repeat(row_digits - row.len()),
            ':' => row.clone_from(rows.last().unwrap()),
            digit => {
                row += &digit.to_string().repeat(count.max(1));
                count = 0;
            }
        }
        assert!(row.len() <= row_digits);
        if row.len() == row_digits {
            rows.push(std::mem::take(&mut row));
        }
    }
    assert_eq!(rows.len() * row_bytes, all);
    let dots = |count: usize| u32::try_from(count).unwrap();
    let (width, height) = (dots(row_bytes * 8), dots(rows.len()));
    let dot = |x: u32, y: u32| {
        let digit = rows[y as usize].as_bytes()[x as usize / 4] as char;
        digit.to_digit(16).unwrap() & (8 >> (x % 4)) != 0
    };
    GrayImage::from_fn(width, height, |x, y| {
        Luma([if dot(x, y) { 0 } else { 255 }])
    })
}

fn pgm_of(image: &Page) -> Vec<u8> {
    let mut pgm = format!("P5\n{} {}\n255\n", image.width(), image.height()).into_bytes();
    pgm.extend(image.as_raw());
    pgm
}

/// The contents of all codes that `ZXing` finds on a page, sorted.
pub(super) fn whole(page: &Page) -> Vec<String> {
    const READER: &str = "import json, zxingcpp\n\
        kind, size, most, pixels = open('page.pgm', 'rb').read().split(b'\\n', 3)\n\
        width, height = map(int, size.split())\n\
        page = memoryview(pixels).cast('B', shape=[height, width])\n\
        codes = zxingcpp.read_barcodes(page, formats=zxingcpp.BarcodeFormat.QRCode)\n\
        print(json.dumps(sorted(code.text for code in codes)))";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("page.pgm"), pgm_of(page)).unwrap();
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/venv/bin/python");
    let output = run(python.to_str().unwrap(), &["-c", READER], folder.path());
    serde_json::from_slice(&output).unwrap()
}

/// Number of pages of a PDF, by poppler.
pub(super) fn page_count(pdf: &[u8]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("labels.pdf"), pdf).unwrap();
    let facts = String::from_utf8(run("pdfinfo", &["labels.pdf"], folder.path())).unwrap();
    let count = facts.lines().find_map(|line| line.strip_prefix("Pages:"));
    count.unwrap().trim().parse().unwrap()
}

/// The contents of all codes that zbar finds on each image. An image without any is tried once more
/// at half the size: zbar overlooks about one code of a thousand at one size, as a phone does until
/// it is moved.
pub(super) fn codes(images: &[Page]) -> Vec<Vec<String>> {
    let mut found = codes_at(images);
    for (image, codes) in images.iter().zip(&mut found) {
        if codes.is_empty() {
            let (width, height) = (image.width() / 2, image.height() / 2);
            let half = image::imageops::resize(image, width, height, FilterType::Triangle);
            *codes = codes_at(&[half]).remove(0);
        }
    }
    found
}

/// The same, at the size of the images.
fn codes_at(images: &[Page]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<_> = (0..images.len())
        .map(|number| format!("{number:05}.pgm"))
        .collect();
    for (image, name) in images.iter().zip(&names) {
        fs::write(folder.path().join(name), pgm_of(image)).unwrap();
    }
    let mut arguments = vec!["-q", "--xml", "-Sdisable", "-Sqrcode.enable"];
    arguments.extend(names.iter().map(String::as_str));
    let xml = String::from_utf8(run("zbarimg", &arguments, folder.path())).unwrap();
    let data = |symbol: &str| {
        let (_, from) = symbol.split_once("<![CDATA[")?;
        let (data, _) = from.split_once("]]>")?;
        Some(data.to_owned())
    };
    let mut found = vec![Vec::new(); images.len()];
    for source in xml.split("<source href='").skip(1) {
        let number: usize = source[..5].parse().unwrap();
        // zbar sees codes of other kinds in a page full of labels, although they are disabled.
        let symbols = source.split("<symbol type='").skip(1);
        let codes = symbols.filter(|symbol| symbol.starts_with("QR-Code"));
        found[number] = codes.filter_map(data).collect();
    }
    found
}
