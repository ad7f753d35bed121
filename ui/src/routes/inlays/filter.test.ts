import { expect, test } from "vitest";
import { uidOf } from "../../lib/inlays/uid";
import { isFiltered, listQuery } from "./filter";

test("a UID is found as any program writes it, and only once it is whole", () => {
  for (const text of ["04DE5F1EACC040", "04:de:5f:1e:ac:c0:40", " 04 DE 5F 1E AC C0 40 "]) expect(uidOf(text)).toBe("04DE5F1EACC040");
  for (const text of ["", undefined, "04DE", "04DE5F1E", "04DE5F1EACC04", "04DE5F1EACC0ZZ", "04DE5F1EACC040010203"])
    expect(uidOf(text)).toBe(null);
  expect(listQuery({ uid: "04DE" }, false)).toEqual({ simulated: false });
});

test("each filter is one of the service's", () => {
  const of = { simulated: true };
  expect(listQuery({ template: "3", master: "2", unbound: "true" }, true)).toEqual({
    url_template_id: 3,
    master_key_id: 2,
    unbound: true,
    ...of,
  });
  expect(listQuery({ unbound: "false" }, true)).toEqual({ unbound: false, ...of });
  expect(listQuery({ chip: "ntag213", factory: "true", exhausted: "false" }, false)).toEqual({
    technology: "ntag213",
    factory_keys: true,
    exhausted: false,
    simulated: false,
  });
  expect(listQuery({ address: "https://tags.example.com/t" }, false)).toEqual({
    carried_tag_url: "https://tags.example.com/t",
    simulated: false,
  });
  expect(isFiltered({ part: "x" })).toBe(false);
  expect(isFiltered({ template: "3" })).toBe(true);
});
