//! ECDSA verification over the small prime curves that chips use (SEC 1 section 4.1.4, SEC 2). All
//! of its inputs are public, so it need not run in constant time. No library has secp128r1, and
//! each further curve takes only one line here.

use num_bigint::BigUint;
use num_traits::{One, Zero};

/// A curve y² = x³ + ax + b.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Curve {
    /// Curve of 128 bits (SEC 2).
    Secp128r1,
    /// 192 bits, also P-192.
    Secp192r1,
    /// 224 bits, also P-224.
    Secp224r1,
}

/// Domain parameters of SEC 2, in hex digits. `a` is always -3.
struct Domain {
    p: BigUint,
    b: BigUint,
    n: BigUint,
    g: Point,
}

/// A point in Jacobian coordinates: (x/z², y/z³), at infinity if z is 0. Adding needs no division.
#[derive(Clone)]
struct Point {
    x: BigUint,
    y: BigUint,
    z: BigUint,
}

impl Curve {
    /// Bytes of a coordinate.
    const fn size(self) -> usize {
        match self {
            Self::Secp128r1 => 16,
            Self::Secp192r1 => 24,
            Self::Secp224r1 => 28,
        }
    }

    fn domain(self) -> Domain {
        let [prime, b, order, x, y] = match self {
            Self::Secp128r1 => [
                "FFFFFFFDFFFFFFFFFFFFFFFFFFFFFFFF",
                "E87579C11079F43DD824993C2CEE5ED3",
                "FFFFFFFE0000000075A30D1B9038A115",
                "161FF7528B899B2D0C28607CA52C5B86",
                "CF5AC8395BAFEB13C02DA292DDED7A83",
            ],
            Self::Secp192r1 => [
                "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEFFFFFFFFFFFFFFFF",
                "64210519E59C80E70FA7E9AB72243049FEB8DEECC146B9B1",
                "FFFFFFFFFFFFFFFFFFFFFFFF99DEF836146BC9B1B4D22831",
                "188DA80EB03090F67CBF20EB43A18800F4FF0AFD82FF1012",
                "07192B95FFC8DA78631011ED6B24CDD573F977A11E794811",
            ],
            Self::Secp224r1 => [
                "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF000000000000000000000001",
                "B4050A850C04B3ABF54132565044B0B7D7BFD8BA270B39432355FFB4",
                "FFFFFFFFFFFFFFFFFFFFFFFFFFFF16A2E0B8F03E13DD29455C5C2A3D",
                "B70E0CBD6BB4BF7F321390B94A03C1D356C21122343280D6115C1D21",
                "BD376388B5F723FB4C22DFE6CD4375A05A07476444D5819985007E34",
            ],
        }
        .map(number);
        Domain {
            p: prime,
            b,
            n: order,
            g: Point::affine(x, y),
        }
    }

    /// Whether `signature` (r, then s) is of the public key over `hash`, a number of `hash_bits`
    /// bits. With 0 bits the number is taken as it is.
    pub(super) fn verifies(
        self,
        public_key: &str,
        hash: &BigUint,
        hash_bits: u64,
        signature: &[u8],
    ) -> bool {
        let size = self.size();
        if signature.len() != 2 * size || public_key.len() != 2 + 4 * size {
            return false;
        }
        let domain = self.domain();
        let (x, y) = public_key[2..].split_at(2 * size);
        let key = Point::affine(number(x), number(y));
        let [r, s] = [&signature[..size], &signature[size..]].map(BigUint::from_bytes_be);
        let in_range = |value: &BigUint| !value.is_zero() && value < &domain.n;
        if !domain.contains(&key) || !in_range(&r) || !in_range(&s) {
            return false;
        }
        // A longer hash is cut to the bits of the order (SEC 1 section 4.1.4 step 3).
        let hash = hash >> hash_bits.saturating_sub(domain.n.bits());
        let Some(inverse) = s.modinv(&domain.n) else {
            return false;
        };
        let u1 = hash * &inverse % &domain.n;
        let u2 = &r * &inverse % &domain.n;
        let sum = domain.add(
            &domain.multiply(&u1, &domain.g),
            &domain.multiply(&u2, &key),
        );
        // The sum's x, which is the only coordinate that is needed.
        let Some(inverse) = sum.z.modinv(&domain.p) else {
            return false;
        };
        let x = sum.x * &inverse * inverse % &domain.p;
        x % &domain.n == r
    }
}

impl Point {
    fn affine(x: BigUint, y: BigUint) -> Self {
        let z = BigUint::one();
        Self { x, y, z }
    }

    fn infinity() -> Self {
        Self {
            z: BigUint::zero(),
            ..Self::affine(BigUint::one(), BigUint::one())
        }
    }
}

impl Domain {
    /// Whether an affine point is on the curve.
    fn contains(&self, Point { x, y, .. }: &Point) -> bool {
        let right = x * x * x + (&self.p - 3_u32) * x + &self.b;
        x < &self.p && y < &self.p && y * y % &self.p == right % &self.p
    }

    /// a - b, for numbers below p.
    fn minus(&self, a: &BigUint, b: &BigUint) -> BigUint {
        (a + &self.p - b) % &self.p
    }

    fn times(&self, a: &BigUint, b: &BigUint) -> BigUint {
        a * b % &self.p
    }

    /// The double of a point, for a = -3 ("dbl-2001-b" of the Explicit-Formulas Database).
    fn double(&self, point: &Point) -> Point {
        let Point { x, y, z } = point;
        let (delta, gamma) = (self.times(z, z), self.times(y, y));
        let beta = self.times(x, &gamma);
        let alpha = self.times(&self.minus(x, &delta), &((x + &delta) * 3_u32));
        let beta4 = &beta * 4_u32 % &self.p;
        let x3 = self.minus(&self.times(&alpha, &alpha), &(&beta4 * 2_u32 % &self.p));
        let gamma8 = self.times(&gamma, &gamma) * 8_u32 % &self.p;
        let y3 = self.minus(&self.times(&alpha, &self.minus(&beta4, &x3)), &gamma8);
        Point {
            x: x3,
            y: y3,
            z: y * z * 2_u32 % &self.p,
        }
    }

    /// The sum of two points ("add-1998-cmo-2" of the Explicit-Formulas Database).
    #[expect(clippy::many_single_char_names, reason = "the names of the formula")]
    fn add(&self, a: &Point, b: &Point) -> Point {
        if a.z.is_zero() {
            return b.clone();
        }
        if b.z.is_zero() {
            return a.clone();
        }
        let (a_zz, b_zz) = (self.times(&a.z, &a.z), self.times(&b.z, &b.z));
        let (u1, u2) = (self.times(&a.x, &b_zz), self.times(&b.x, &a_zz));
        let s1 = self.times(&self.times(&a.y, &b.z), &b_zz);
        let s2 = self.times(&self.times(&b.y, &a.z), &a_zz);
        let (h, r) = (self.minus(&u2, &u1), self.minus(&s2, &s1));
        if h.is_zero() {
            return if r.is_zero() {
                self.double(a)
            } else {
                Point::infinity()
            };
        }
        let hh = self.times(&h, &h);
        let (hhh, v) = (self.times(&h, &hh), self.times(&u1, &hh));
        let x = self.minus(&self.times(&r, &r), &((&hhh + &v * 2_u32) % &self.p));
        let right = self.times(&s1, &hhh);
        Point {
            y: self.minus(&self.times(&r, &self.minus(&v, &x)), &right),
            x,
            z: self.times(&self.times(&a.z, &b.z), &h),
        }
    }

    fn multiply(&self, scalar: &BigUint, point: &Point) -> Point {
        let mut product = Point::infinity();
        for bit in (0..scalar.bits()).rev() {
            product = self.double(&product);
            if scalar.bit(bit) {
                product = self.add(&product, point);
            }
        }
        product
    }
}

fn number(hex: &str) -> BigUint {
    BigUint::parse_bytes(hex.as_bytes(), 16).expect("the constants are hex digits")
}
