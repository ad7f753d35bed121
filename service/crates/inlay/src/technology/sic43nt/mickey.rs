//! MICKEY version 1 (eSTREAM, 2005; not version 2): two registers of 80 stages that clock each
//! other. Stage `i` is bit `i` of the number.

/// The taps of register R.
const R_TAPS: u128 = 0xD2A8_415A_0AAC_1D53_63D5;
/// The values that register S mixes into its stages.
const COMP0: u128 = 0x3FEA_7942_A809_6AA9_7A30;
const COMP1: u128 = 0x3DD7_E3A2_1D63_DD62_9E9A;
/// The feedback of register S, by its control bit.
const FEEDBACK: [u128; 2] = [0x5802_AF4A_9381_9FFA_7FAF, 0xC52B_4911_B063_4C8C_B877];

const STAGES: u32 = 80;
const MASK: u128 = (1 << STAGES) - 1;

/// The first `N` bytes of the key stream of an 80-bit key and a 32-bit IV.
pub fn keystream<const N: usize>(key: &[u8; 10], iv: u32) -> [u8; N] {
    #[cfg(any(test, feature = "effort"))]
    crate::effort::count(N);
    let mut registers = Registers { r: 0, s: 0 };
    // Both are loaded as one number, least significant bit first.
    for bit in 0..32 {
        registers.clock(true, iv >> bit & 1 == 1);
    }
    for byte in key.iter().rev() {
        for bit in 0..8 {
            registers.clock(true, byte >> bit & 1 == 1);
        }
    }
    for _ in 0..STAGES {
        registers.clock(true, false);
    }
    let mut bytes = [0; N];
    for byte in &mut bytes {
        for _ in 0..8 {
            *byte = *byte << 1 | u8::from(bit(registers.r ^ registers.s, 0));
            registers.clock(false, false);
        }
    }
    bytes
}

struct Registers {
    r: u128,
    s: u128,
}

impl Registers {
    fn clock(&mut self, mixing: bool, input: bool) {
        let control_r = bit(self.s, 27) ^ bit(self.r, 53);
        let control_s = bit(self.s, 53) ^ bit(self.r, 26);
        let input_r = input ^ (mixing && bit(self.s, 40));
        self.clock_r(input_r, control_r);
        self.clock_s(input, control_s);
    }

    fn clock_r(&mut self, input: bool, control: bool) {
        let feedback = bit(self.r, 79) ^ input;
        let shifted = self.r << 1 & MASK;
        self.r = shifted ^ select(feedback, R_TAPS) ^ select(control, self.r);
    }

    fn clock_s(&mut self, input: bool, control: bool) {
        let feedback = bit(self.s, 79) ^ input;
        // Stages 1 to 78 mix; 0 and 79 only shift.
        let inner = MASK >> 1 & !1;
        let mixed = (self.s ^ COMP0) & (self.s >> 1 ^ COMP1) & inner;
        let shifted = (self.s << 1 & MASK) ^ mixed;
        self.s = shifted ^ select(feedback, FEEDBACK[usize::from(control)]);
    }
}

fn bit(register: u128, stage: u32) -> bool {
    register >> stage & 1 == 1
}

fn select(condition: bool, value: u128) -> u128 {
    if condition { value } else { 0 }
}
