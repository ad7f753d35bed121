// An NTAG 424 DNA with a plain mirror and a MAC over the empty input, for taps
// of real tags. Sources: NT4H2421Gx data sheet rev 3.0, section 9.3; RFC 4493.

import { createCipheriv } from "node:crypto";

const block = (key, bytes) => {
  const cipher = createCipheriv("aes-128-ecb", key, null).setAutoPadding(false);
  return Buffer.concat([cipher.update(bytes), cipher.final()]);
};

function double(bytes) {
  const out = Buffer.alloc(16);
  for (let index = 0; index < 16; index++) out[index] = ((bytes[index] << 1) | ((bytes[index + 1] ?? 0) >> 7)) & 255;
  if (bytes[0] & 128) out[15] ^= 0x87;
  return out;
}

/** AES-CMAC of a message of no more than one block. */
function cmac(key, message) {
  const whole = message.length === 16;
  const k1 = double(block(key, Buffer.alloc(16)));
  const subkey = whole ? k1 : double(k1);
  const padded = Buffer.alloc(16);
  message.copy(padded);
  if (!whole) padded[message.length] = 0x80;
  return block(key, Buffer.from(padded.map((byte, index) => byte ^ subkey[index])));
}

export class Inlay {
  counter = 0;

  constructor(uid, key) {
    this.uid = uid;
    this.key = Buffer.from(key, "hex");
  }

  /** The query of the URL of the next read. */
  read() {
    return this.at(++this.counter);
  }

  /** The query of the URL of one read. */
  at(counter) {
    const count = counter.toString(16).padStart(6, "0").toUpperCase();
    return `?uid=${this.uid}&token=${count}${this.mac(counter)}`;
  }

  /** The MAC of one read over a text of the URL, of no more than one block. */
  mac(counter, text = "") {
    const leastFirst = Buffer.from(counter.toString(16).padStart(6, "0"), "hex").reverse();
    const vector = Buffer.concat([Buffer.from("3cc300010080", "hex"), Buffer.from(this.uid, "hex"), leastFirst]);
    const mac = cmac(cmac(this.key, vector), Buffer.from(text)).filter((_, index) => index % 2 === 1);
    return Buffer.from(mac).toString("hex").toUpperCase();
  }
}
