// An NTAG 424 DNA with a MAC over the empty input, for taps of real tags. Sources: NT4H2421Gx data
// sheet rev 3.0, section 9.3; RFC 4493; `derive.py` of sdm-backend.

import { createCipheriv, createHmac, randomBytes } from "node:crypto";

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

const xor = (one, other) => Buffer.from(one.map((byte, index) => byte ^ other[index]));

/** A CBC-MAC of a message of whole blocks, after `start`. */
function cbcMac(key, message, start = Buffer.alloc(16)) {
  for (let at = 0; at < message.length; at += 16) start = block(key, xor(start, message.subarray(at, at + 16)));
  return start;
}

/** AES-CMAC. */
function cmac(key, message) {
  const rest = message.length === 0 ? 0 : message.length - (message.length % 16 || 16);
  return block(key, xor(cbcMac(key, message.subarray(0, rest)), lastOf(key, message.subarray(rest))));
}

/** The last block of a message before its encryption. */
function lastOf(key, message) {
  const whole = message.length === 16;
  const k1 = double(block(key, Buffer.alloc(16)));
  const subkey = whole ? k1 : double(k1);
  const padded = Buffer.alloc(16);
  message.copy(padded);
  if (!whole) padded[message.length] = 0x80;
  return xor(padded, subkey);
}

const hmac = (key, ...message) => createHmac("sha256", key).update(Buffer.concat(message)).digest();

/** The file key of a chip, as sdm-backend derives it from its master key. */
export function sdmBackendFileKey(master, uid) {
  const key = Buffer.from(master, "hex");
  const base = hmac(key, Buffer.from("DivBaseKey"));
  const slot = hmac(key, Buffer.from("SlotMasterKey"), Buffer.from([2])).subarray(0, 16);
  const input = hmac(base, Buffer.from(uid, "hex")).subarray(0, 16);
  return cmac(slot, Buffer.concat([Buffer.from([1]), input])).toString("hex");
}

/** The meta key that all chips of sdm-backend share. */
export const sdmBackendMetaKey = (master) => hmac(Buffer.from(master, "hex"), Buffer.from("PICCDataKey")).subarray(0, 16).toString("hex");

/** A counter as URLs contain it. */
const counterText = (counter) => counter.toString(16).padStart(6, "0").toUpperCase();
const leastFirst = (counter) => Buffer.from(counterText(counter), "hex").reverse();
const inHex = (bytes) => Buffer.from(bytes).toString("hex").toUpperCase();

export class Inlay {
  counter = 0;

  constructor(uid, key) {
    this.uid = uid;
    this.key = Buffer.from(key, "hex");
  }

  /** The same chip, whose reads are counted on its own. */
  copy() {
    return Object.assign(new Inlay(this.uid, this.key.toString("hex")), { counter: this.counter });
  }

  /** The query of the URL of the next read. */
  read() {
    return this.at(++this.counter);
  }

  /** The query of the URL of one read. */
  at(counter) {
    return `?uid=${this.uid}&token=${counterText(counter)}${this.mac(counter)}`;
  }

  /** UID and counter of one read, encrypted with a meta key. */
  picc(counter, metaKey) {
    const data = Buffer.concat([Buffer.from([0xc7]), Buffer.from(this.uid, "hex"), leastFirst(counter), randomBytes(5)]);
    return inHex(block(Buffer.from(metaKey, "hex"), data));
  }

  /** The MAC of one read over a text of the URL. */
  mac(counter, text = "") {
    return inHex(cmac(this.#session(counter), Buffer.from(text)).filter((_, index) => index % 2 === 1));
  }

  #session(counter) {
    return cmac(this.key, Buffer.concat([Buffer.from(`3cc300010080${this.uid}`, "hex"), leastFirst(counter)]));
  }
}
