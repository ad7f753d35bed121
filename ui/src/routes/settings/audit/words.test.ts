import { expect, test } from "vitest";
import { actionName, actorName } from "./words";

test("an action is named by its subject", () => {
  expect(actionName("tags.update")).toBe("Tags: update");
  expect(actionName("tags.former-slugs.delete")).toBe("Tags: former slugs delete");
  expect(actionName("backup")).toBe("Backup");
});

test("an actor is named by the token, if it has one", () => {
  expect(actorName({ kind: "token", id: 3, name: "Shop" })).toBe("Shop");
  expect(actorName({ kind: "token", id: 3, name: null })).toBe("Token 3");
  expect(actorName({ kind: "desktop", id: null, name: null })).toBe("Desktop");
});
