//! The product seen from outside: what the black-box tests share.
