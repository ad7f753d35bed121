import { describe, expect, it } from "vitest";
import { boundsOf, datesWords, daysOf, dayWords, lengthOf, parseDay, valueOf } from "./dates";

const TODAY = "2026-03-31";
const range = (value: string, today = TODAY) => {
  const days = daysOf(value, today);
  return days && valueOf(days);
};

describe("A range of dates", () => {
  it("moves with the present day, unless it was chosen by its days", () => {
    expect(range("today")).toBe("2026-03-31..2026-03-31");
    expect(range("yesterday")).toBe("2026-03-30..2026-03-30");
    expect(range("7d")).toBe("2026-03-25..2026-03-31");
    expect(range("30d")).toBe("2026-03-02..2026-03-31");
    expect(range("month")).toBe("2026-03-01..2026-03-31");
    expect(range("last-month")).toBe("2026-02-01..2026-02-28");
    expect(range("last-month", "2028-03-31")).toBe("2028-02-01..2028-02-29");
    expect(range("2026-01-05..2026-02-01")).toBe("2026-01-05..2026-02-01");
  });

  it("is none if the address names no days", () => {
    for (const value of ["", "tomorrow", "2026-02-30..2026-03-01", "2026-03-02..2026-03-01", "2026-03-01", "26-3-1..26-3-2"]) {
      expect(range(value), value).toBeNull();
      expect(boundsOf(value, TODAY)).toEqual({});
      expect(datesWords(value)).toBe("");
    }
  });

  it("is from midnight to midnight in the viewer's time zone, also where clocks change", () => {
    expect(boundsOf("month", TODAY, "Europe/Berlin")).toEqual({ since: "2026-02-28T23:00:00.000Z", until: "2026-03-31T22:00:00.000Z" });
    expect(boundsOf("today", TODAY, "Asia/Kolkata")).toEqual({ since: "2026-03-30T18:30:00.000Z", until: "2026-03-31T18:30:00.000Z" });
    // 23 hours: the clocks of New York go forward on 8 March.
    expect(boundsOf("2026-03-08..2026-03-08", TODAY, "America/New_York")).toEqual({
      since: "2026-03-08T05:00:00.000Z",
      until: "2026-03-09T04:00:00.000Z",
    });
  });

  it("is typed as people write days", () => {
    for (const text of ["3 Feb 2026", "03/02/2026", "3.2.2026", " 3. february 2026 ", "2026-02-03", "2026-2-3"]) {
      expect(parseDay(text)?.toString(), text).toBe("2026-02-03");
    }
    for (const text of ["", "3", "3 Feb", "30 Feb 2026", "3 Foo 2026", "3.13.2026", "0.2.2026", "3.2.26", "tomorrow"]) {
      expect(parseDay(text), text).toBeNull();
    }
    expect(parseDay(dayWords(parseDay("30 Sept 2026")!))?.toString()).toBe("2026-09-30");
  });

  it("has as many days as it names", () => {
    expect(lengthOf(daysOf("today", TODAY)!)).toBe(1);
    expect(lengthOf(daysOf("7d", TODAY)!)).toBe(7);
    expect(lengthOf(daysOf("2025-03-31..2026-03-31", TODAY)!)).toBe(366);
  });

  it("is named by its preset, or by its days", () => {
    expect(datesWords("last-month")).toBe("Last month");
    expect(datesWords("2026-03-01..2026-03-01")).toBe("1 Mar 2026");
    expect(datesWords("2026-03-01..2026-03-31").replaceAll(/[\u2009\u202f]/g, "")).toMatch(/^1.31 Mar 2026$/);
  });
});
