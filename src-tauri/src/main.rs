//! The desktop's place in the workspace. Until the desktop is here, this
//! binary says where the service is.

fn main() {
    println!("The desktop is not part of this version. `make run` starts the service.");
}
