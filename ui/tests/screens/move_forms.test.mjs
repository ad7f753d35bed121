// Every published form of URLs, moved in by the wizard up to a tap at its old address. Sources of the
// forms: the guide "Moving from another service". Codes of chips that no test here computes are those
// of tests/vectors/inlays.json.

import assert from "node:assert/strict";
import { an10922FileKey, counterText, Inlay, sdmBackendFileKey, sdmBackendMetaKey } from "./inlay.mjs";
import { arrived, begin, importAll, last, lines, next, OWN, solve, upload, use, useOneOf } from "./moves.mjs";
import { group } from "./suite.mjs";
import { tapAt } from "./tapAt.mjs";

const [KEY, OTHER, META] = ["3C", "4D", "5E"].map((byte) => byte.repeat(16));
const verified = [true, "verified"];
const replayed = [false, "replayed"];
/** The record of a tap that no code proves. */
const unproved = [null, "no_mac"];

/** Two chips, each with a file key of its own. */
const pair = (last) => [new Inlay(`04B10000000${last}10`, KEY), new Inlay(`04B10000000${last}20`, OTHER)];
const ofMaster = (uid, master) => new Inlay(uid, sdmBackendFileKey(master, uid));

/**
 * A move: `urls` and their keys are pasted, `format` is the template to choose if it is not proved,
 * `rows` the table, `taps` the paths that are opened afterwards, and `records` the results, the oldest first.
 */
const moves = {
  "Blue Bite: UID and token": () => {
    const [one, other] = pair(1);
    const path = (slug, inlay, counter) => `/${slug}${inlay.at(counter)}`;
    return {
      service: "Blue Bite",
      host: "m.bluebite.example",
      urls: [path("njaix4", one, 6), path("nilpps", other, 2)],
      keys: lines(KEY, OTHER),
      rows: [
        "mTAG ID,Name,Status,UID,Last counter,file_key",
        `32403784,Door,Active,${one.uid},000007,${KEY}`,
        `nilpps,Shelf,Active,${other.uid},000002,${OTHER}`,
      ],
      taps: [path("njaix4", one, 7), path("njaix4", one, 8)],
      records: [replayed, verified],
    };
  },
  "Blue Bite: encrypted UID and token": () => {
    const [one, other] = pair(2);
    const path = (slug, inlay, counter) => `/${slug}?uid=${inlay.picc(counter, META)}&token=${inlay.mac(counter)}`;
    return {
      service: "Blue Bite",
      host: "p.bluebite.example",
      urls: [path("nbbbb1", one, 1), path("nbbbb2", other, 1)],
      keys: lines(KEY, OTHER, META),
      rows: [
        "Short URL,Name,UID,meta_key,file_key",
        ...["nbbbb1", "nbbbb2"].map(
          (slug, index) => `https://p.bluebite.example/${slug},Case ${index},${[one, other][index].uid},${META},${[KEY, OTHER][index]}`,
        ),
      ],
      taps: [path("nbbbb2", other, 4)],
      records: [verified],
    };
  },
  "Blue Bite: id, num and sig": () => {
    const [one, other] = pair(3);
    const path = (slug, inlay, counter) => `/${slug}?id=${inlay.uid}&num=${counterText(counter)}&sig=${inlay.mac(counter)}`;
    return {
      service: "Blue Bite",
      host: "s.bluebite.example",
      urls: [path("nccc1", one, 1), path("nccc2", other, 1)],
      keys: lines(KEY, OTHER),
      rows: ["Touchpoint URL,Name,UID,file_key", `https://s.bluebite.example/nccc1,Crate,${one.uid},${KEY}`],
      taps: [path("nccc1", one, 2)],
      records: [verified],
    };
  },
  "Blue Bite: a counter without a code": () => ({
    service: "Blue Bite",
    host: "c.bluebite.example",
    urls: ["/nddd1/042E276AA24881x0001A22702"],
    format: ["https://c.bluebite.example/{slug}/{uid}x{counter}2702", "NTAG213"],
    rows: ["mTAG ID,Name,UID,Last counter", "nddd1,Barrel,042E276AA24881,0001A2"],
    taps: ["/nddd1/042E276AA24881x0001A32702"],
    records: [unproved],
  }),
  "ixkio: API mode": () => {
    const [one, other] = pair(4);
    const path = (slug, inlay, counter) => `/?x=${slug}&n=${counterText(counter)}&e=${inlay.macWithoutUid(counter)}`;
    return {
      service: "ixkio",
      host: "shop.ixkio.example",
      urls: [path("abcd1234", one, 29)],
      keys: lines(KEY, OTHER),
      rows: [
        "XUID,TAGNAME,UID,RESPONSE,SDM File Key,Counter",
        `abcd1234,Bag 1,${one.uid},https://shop.example/1,${KEY},00001E`,
        `abcd1235,Bag 2,${other.uid},https://shop.example/2,${OTHER},00001E`,
      ],
      taps: [path("abcd1234", one, 30), path("abcd1235", other, 31)],
      records: [replayed, verified],
    };
  },
  "A forum: factory keys, and parameters that are fixed": () => {
    const rest = "&n=002&t=1&p=3";
    return {
      service: OWN,
      host: "my-test-for-tags.example",
      urls: [`/scan?uid=044B6A4A4E6880&ctr=000021&cmac=3E12626CBBFB3FB9${rest}`],
      keys: "00".repeat(16),
      rows: ["Name,UID,file_key", `Sample,044B6A4A4E6880,${"00".repeat(16)}`],
      factory: true,
      taps: [
        `/scan?uid=044B6A4A4E6880&ctr=000022&cmac=211167FD30F03BEA${rest}`,
        `/scan?uid=044B6A4A4E6880&ctr=000021&cmac=3E12626CBBFB3FB9${rest}`,
      ],
      records: [verified, [false, "out_of_order"]],
    };
  },
  "GoToTags: UID, counter and code": () => {
    const [one, other] = pair(5);
    const path = (inlay, counter) => `/n?uid=${inlay.uid}&ctr=${counterText(counter)}&cmac=${inlay.mac(counter)}`;
    return {
      service: "GoToTags",
      host: "go.gototags.example",
      urls: [path(one, 4), path(other, 4)],
      keys: lines(KEY, OTHER),
      rows: [
        "UID,Name,URL,NFC counter,file_key",
        `${one.uid},Poster 1,https://go.gototags.example/n,16,${KEY}`,
        `${other.uid},Poster 2,https://go.gototags.example/n,14,${OTHER}`,
      ],
      counter: "decimal",
      taps: [path(one, 16), path(one, 17)],
      records: [replayed, verified],
    };
  },
  "GoToTags: a mirrored UID without a code": () => ({
    service: "GoToTags",
    host: "m.gototags.example",
    urls: ["/n?m=04B1B2C3D4E580x000005", "/n?m=04B1B2C3D4E680x000009"],
    format: ["https://m.gototags.example/n?m={uid}x{counter}", "NTAG213"],
    rows: ["UID,Name,NFC counter", "04B1B2C3D4E580,Flyer 1,000005", "04B1B2C3D4E680,Flyer 2,000009"],
    taps: ["/n?m=04B1B2C3D4E680x00000A"],
    records: [unproved],
  }),
  "sdm-backend: file data": () => {
    const master = "61".repeat(16);
    const [one, other] = ["04B10000000610", "04B10000000620"].map((uid) => ofMaster(uid, master));
    const path = (inlay, counter) => {
      const enc = inlay.enc(counter, "batch 7 of wine ");
      return `/tag?picc_data=${inlay.picc(counter, sdmBackendMetaKey(master))}&enc=${enc}&cmac=${inlay.mac(counter, `${enc}&cmac=`)}`;
    };
    return {
      service: "sdm-backend",
      host: "enc.sdm.example",
      urls: [path(one, 1), path(other, 1)],
      masters: master,
      rows: ["uid,read_ctr,enc_mode,file_data,name", `${one.uid},16,AES,,Wine`],
      counter: "decimal",
      taps: [path(one, 16), path(one, 17)],
      records: [replayed, verified],
    };
  },
  "sdm-backend: UID and counter in clear": () => {
    const master = "62".repeat(16);
    const one = ofMaster("04B10000000710", master);
    const path = (counter) => `/tagpt?uid=${one.uid}&ctr=${counterText(counter)}&cmac=${one.mac(counter)}`;
    return {
      service: "sdm-backend",
      host: "clear.sdm.example",
      urls: [path(1), path(2)],
      masters: master,
      rows: ["uid,name", `${one.uid},Clear`],
      taps: [path(3)],
      records: [verified],
    };
  },
  "sdm-backend: one value for all": () => {
    const master = "63".repeat(16);
    const one = ofMaster("04B10000000810", master);
    const path = (counter) => `/tag?e=${one.picc(counter, sdmBackendMetaKey(master))}${one.mac(counter)}`;
    return {
      service: "sdm-backend",
      host: "bulk.sdm.example",
      urls: [path(1), path(2)],
      masters: master,
      rows: ["uid,name", `${one.uid},Bulk`],
      taps: [path(3)],
      records: [verified],
    };
  },
  "sdm-backend: TagTamper": () => {
    const master = "64".repeat(16);
    const one = ofMaster("04B10000000910", master);
    const path = (counter, loop) => {
      const enc = one.enc(counter, `${loop}sealed by hand`);
      return `/tagtt?picc_data=${one.picc(counter, sdmBackendMetaKey(master))}&enc=${enc}&cmac=${one.mac(counter, `${enc}&cmac=`)}`;
    };
    return {
      service: "sdm-backend",
      host: "tt.sdm.example",
      urls: [path(1, "CC"), path(2, "CC")],
      masters: master,
      format: ["https://tt.sdm.example/tagtt?picc_data={picc}&enc={enc}&cmac={mac}", "NTAG 424 DNA TagTamper"],
      rows: ["uid,read_ctr,tt_status,name", `${one.uid},000002,secure,Box`],
      taps: [path(3, "CC"), path(4, "OO")],
      records: [verified, verified],
      tampers: ["sealed", "open"],
    };
  },
  "sdm-backend: LRP": () => ({
    service: "sdm-backend",
    host: "lrp.sdm.example",
    urls: ["/tag?picc_data=D439C5117D0F47FD874643FB3BA17C18F99C9033DD85B4DE&cmac=0CAB5C930EB07D9D"],
    keys: lines("21D0C9139BAC6BC744C5634004C0D95B", "ABA2F25D90EFFDD6A95923EE8CFDC963"),
    rows: [
      "uid,enc_mode,name,meta_key,file_key",
      "04A8C05FE4CBF6,LRP,Seal,21D0C9139BAC6BC744C5634004C0D95B,ABA2F25D90EFFDD6A95923EE8CFDC963",
    ],
    taps: ["/tag?picc_data=D439C5117D0F47FD874643FB3BA17C18F99C9033DD85B4DE&cmac=0CAB5C930EB07D9D"],
    records: [verified],
  }),
  "sdm-backend: LRP and file data": () => {
    const [picc, enc, mac] = [
      "4B964B770E5974B46CA73461F651B9099CFC307148676A17",
      "F50919413537F559DAB512F0EDD361C4968AE255016D023FCBFF3C43C7E83145",
      "4E62ABA47802AF78",
    ];
    const keys = ["08CAF02815CFA7BDCCB44B5A40D83E1A", "7FB5390125EDFFE759C743959705EA30"];
    const url = `/tag?picc_data=${picc}&enc=${enc}&cmac=${mac}`;
    return {
      service: "sdm-backend",
      host: "lrpenc.sdm.example",
      urls: [url],
      keys: lines(...keys),
      rows: ["uid,enc_mode,name,read_ctr,meta_key,file_key", `04EF2141D0F052,LRP,Seal 2,66050,${keys}`],
      counter: "decimal",
      taps: [url],
      records: [verified],
    };
  },
  "NXP AN12196: a shared meta key and file keys of another master": () => {
    const master = "65".repeat(16);
    const [one, other] = ["04B10000000A10", "04B10000000A20"].map((uid) => new Inlay(uid, an10922FileKey(master, uid)));
    const path = (inlay, counter) => `/424?e=${inlay.picc(counter, META)}&c=${inlay.mac(counter)}`;
    return {
      service: OWN,
      host: "an12196.example",
      urls: [path(one, 1), path(other, 1)],
      keys: META,
      masters: master,
      rows: ["name,uid,last_counter", `Label 1,${one.uid},1`, `Label 2,${other.uid},1`],
      taps: [path(other, 1), path(one, 2)],
      records: [replayed, verified],
    };
  },
  "NXP's tools: UID inside the code, and fixed parameters": () => {
    const [one] = pair("B");
    const path = (counter) => {
      const covered = `${one.uid}&ctr=${counterText(counter)}&cmac=`;
      return `/scan?uid=${covered}${one.mac(counter, covered)}&n=002&t=1`;
    };
    return {
      service: OWN,
      host: "tools.example",
      urls: [path(33), path(34)],
      keys: KEY,
      rows: ["Serial number,No.,Read counter,file_key", `${one.uid},Tool,000022,${KEY}`],
      meanings: { "No.": "name" },
      taps: [path(34), path(35)],
      records: [replayed, verified],
    };
  },
  SIC43NT: () => ({
    service: OWN,
    host: "sic.example",
    urls: ["/?d=394930A1A2A3A4000000123466044E56"],
    keys: "F3091FF9C5D509EA2DC4",
    format: ["https://sic.example/?d={uid}{tamper}{counter}{mac}", "SIC43NT"],
    rows: ["name,uid,last_counter,file_key", "Pass,394930A1A2A3A4,4659,F3091FF9C5D509EA2DC4"],
    taps: ["/?d=394930A1A2A3A4000000123466044E56"],
    records: [verified],
  }),
  "a fixed URL": () => ({
    service: "ixkio",
    host: "go.ixkio.example",
    urls: ["/fixed123", "/fixed124"],
    format: ["https://go.ixkio.example/{slug}", "NTAG213"],
    rows: ["XUID,TAGNAME,UID,RESPONSE", "fixed123,Sign 1,04B10000000C10,https://shop.example/1"],
    taps: ["/fixed123"],
    records: [unproved],
  }),
};

async function moveIn(page, { api, ui }, name, move) {
  const { service, host, urls, keys, masters, format, rows, meanings, counter, factory, taps, records, tampers } = move;
  const verifies = records.some(([tag_verified]) => tag_verified);
  await begin(page, service);
  await solve(page, lines(...urls.map((path) => `https://${host}${path}`)), { keys, masters });
  if (format) await useOneOf(page, name, ...format);
  else await use(page, name);
  await next(page);
  await upload(page, rows, meanings);
  if (counter) {
    await page.getByLabel("Counters of the file are").selectOption(counter);
    await page.getByRole("button", { name: "Check" }).click();
  }
  if (factory) {
    // Anyone can make codes with these keys, so a person has to allow them.
    await page.getByText("The factory key is known to everyone").first().waitFor();
    await page.getByLabel("Allow factory keys").check();
    await page.getByRole("button", { name: "Check" }).click();
  }
  await importAll(page, rows.length - 1);
  await next(page);
  await last(page);
  for (const path of taps) await tapAt(ui.service, host, path);
  if (verifies) await arrived(page, name);
  else await page.getByText(`${name}: the first tap has arrived`).waitFor();
  await page.getByRole("heading", { name: "You have moved in" }).waitFor();
  await page.getByText(verifies ? "was verified here" : "cannot be verified").waitFor();
  const { items } = await api.get(`/interactions?limit=${taps.length}`);
  const results = items.reverse();
  assert.deepEqual(
    results.map(({ tag_verified, reason }) => [tag_verified, reason]),
    records,
  );
  if (tampers)
    assert.deepEqual(
      results.map(({ tamper }) => tamper),
      tampers,
    );
}

group("The move of each published form", {
  stories: Object.fromEntries(
    Object.entries(moves).map(([name, move]) => [
      `${name}: ends with its verdict at the old address`,
      (page, world) => moveIn(page, world, name.replace(":", ","), move()),
    ]),
  ),
});
