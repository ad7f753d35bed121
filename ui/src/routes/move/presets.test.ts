import { describe, expect, it } from "vitest";
import type { ImportPreset } from "../../lib/api/types";
// What the service answers at /tags/import/presets.
import data from "../../../../service/data/import-presets.json";
import { parseCsv } from "../tags/csv";
import { completed, guessed, mappingOf } from "./presets";

const presets = data as unknown as ImportPreset[];
const preset = (name: string) => presets.find((one) => one.name === name)!;
const common = { template: "Bottles 2024", technology: "ntag424dna", mode: "aes", master_key_id: "" };

describe("columns of another service", () => {
  it("of boltcard are its keys by their slots, and the replay state", () => {
    const table = parseCsv("Card name,uid,k0_auth_key,k1,k2_cmac_key,LAST-COUNTER value\nAnna,04DE5F1EACC040,00,11,22,61\n");
    expect(mappingOf(table, preset("boltcard"))).toEqual(["name", "uid", "", "meta_key", "file_key", "last_counter"]);
    expect(guessed(table, preset("boltcard"))).toEqual([]);
  });

  it("that mean the same are taken once, and what no document states is a guess", () => {
    const table = parseCsv("UID;Tag UID;Batch;Scan count;STATUS;title\n04DE5F1EACC040;04DE5F1EACC040;A;9;On;x\n");
    expect(mappingOf(table, preset("ixkio"))).toEqual(["uid", "", "attribute:batch", "", "", "title"]);
    expect(guessed(table, preset("ixkio"))).toEqual(["Tag UID", "Batch"]);
  });

  it("are guessed if no service is named", () => {
    expect(mappingOf(parseCsv("Label,UID,colour,Chip type\n"), preset("csv"))).toEqual(["name", "uid", "", "technology"]);
  });
});

describe("a file of inlays", () => {
  it("gets what it lacks, and keeps what it has", () => {
    const table = parseCsv("uid,file_key\n04DE5F1EACC040,11\n04DE5F1EACC041,22\n");
    const whole = completed(table, ["uid", "file_key"], common);
    expect(whole.mapping).toEqual(["uid", "file_key", "name", "template", "technology"]);
    expect(whole.table.rows[0]).toEqual(["04DE5F1EACC040", "11", "Inlay 04DE5F1EACC040", "Bottles 2024", "ntag424dna"]);
    const named = completed(parseCsv("name,technology\nA,sic43nt\n"), ["name", "technology"], { ...common, mode: "lrp" });
    expect(named.mapping).toEqual(["name", "technology", "template", "mode"]);
  });

  it("gets a master key only if it has no keys, and rows that are too short stay aligned", () => {
    const table = parseCsv("uid,meta_key\n04DE5F1EACC040\n");
    const whole = completed(table, ["uid", "meta_key"], { ...common, master_key_id: "7" });
    expect(whole.mapping).not.toContain("master_key_id");
    expect(whole.table.rows[0]).toEqual(["04DE5F1EACC040", "", "Inlay 04DE5F1EACC040", "Bottles 2024", "ntag424dna"]);
    expect(completed(parseCsv("uid\n04\n"), ["uid"], { ...common, master_key_id: "7" }).mapping).toContain("master_key_id");
  });
});
