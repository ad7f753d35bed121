//! The container image, as a program reads it that loads it. It is made from a static program that
//! does nothing, and needs no daemon.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A script of the repository.
fn script(name: &str) -> Command {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.make");
    Command::new(folder.join(name))
}

/// The files of an image in `folder`, with a program that is linked with these options.
fn tree(folder: &Path, options: &[&str]) -> PathBuf {
    let tree = folder.join("tree");
    fs::create_dir_all(tree.join("usr/bin")).unwrap();
    fs::create_dir_all(tree.join("usr/share/doc/tapdesk-service")).unwrap();
    let source = folder.join("program.c");
    fs::write(&source, "int main(void) { return 0; }").unwrap();
    let linked = Command::new("cc")
        .args(options)
        .arg("-o")
        .arg(tree.join("usr/bin/tapdesk-service"))
        .arg(&source)
        .status();
    assert!(linked.expect("a C compiler is installed").success());
    tree
}

fn make(tree: &Path, image: &Path) -> Output {
    let mut builder = script("image");
    let made = builder.arg(tree).arg("0.1.0").arg(image).output();
    made.expect("bash is installed")
}

fn check(image: &Path) -> Output {
    let checked = script("check-image").arg(image).output();
    checked.expect("Python is installed")
}

#[test]
fn an_image_is_whole_and_the_same_twice() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(folder.path(), &["-static"]);
    let image = folder.path().join("one.oci.tar");
    let made = make(&tree, &image);
    assert!(made.status.success(), "{made:?}");
    let checked = check(&image);
    assert!(checked.status.success(), "{checked:?}");
    let again = folder.path().join("again.oci.tar");
    assert!(make(&tree, &again).status.success());
    let bytes = fs::read(&image).unwrap();
    assert!(bytes == fs::read(again).unwrap(), "two images differ");

    // One byte of the layer, which is the largest part of the image.
    let damaged = folder.path().join("damaged.oci.tar");
    let mut other = bytes;
    let middle = other.len() / 2;
    other[middle] ^= 1;
    fs::write(&damaged, other).unwrap();
    let checked = check(&damaged);
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(said.contains("has other content"), "{checked:?}");
}

#[test]
fn a_program_that_needs_libraries_is_in_no_image() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(folder.path(), &[]);
    let image = folder.path().join("one.oci.tar");
    let made = make(&tree, &image);
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(said.contains("needs libraries"), "{made:?}");
    assert!(!made.status.success() && !image.exists());
}
