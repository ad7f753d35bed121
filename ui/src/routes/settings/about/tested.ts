// The systems that a release was tested on. After further tests with the release's own build, add
// them here.

export interface Tested {
  name: string;
  tested: string;
  untested: string;
}

export const parts: Tested[] = [
  { name: "Systems", tested: "Debian 12 (bookworm)", untested: "other Linux distributions, Windows, macOS." },
  {
    name: "Readers",
    tested: "A virtual reader, through the smart card service pcscd",
    untested: "any physical reader, such as an ACR122U or an ACR1252U.",
  },
  {
    name: "Chips",
    tested: "Virtual NTAG 424 DNA, NTAG213, NTAG215, NTAG216 and MIFARE Ultralight, built from their data sheets",
    untested: "any physical chip, and any phone that reads one.",
  },
];
