import { expect, test } from "vitest";
import { valuesOf } from "./serviceSettings";

test("texts become the values of the settings", () => {
  const texts = { retention_months: " 6 ", rate_limit: "off", hosts: "a.example, b.example,", default_country: "", app_id: "-3" };
  expect(valuesOf(texts)).toEqual({
    values: { retention_months: 6, rate_limit: "off", hosts: ["a.example", "b.example"], default_country: null, app_id: -3 },
    wrong: {},
  });
});

test("a text that means nothing is an error with the field's name, and no other value", () => {
  const { values, wrong } = valuesOf({ retention_months: "1201", app_id: "", rate_limit: "0" });
  expect(values).toEqual({});
  expect(wrong).toEqual({
    retention_months: "Retention: enter a whole number from 1 to 1,200, without a unit.",
    app_id: "app_id: enter a whole number.",
    rate_limit: "Rate limit: enter a whole number of at least 1, or off.",
  });
});
