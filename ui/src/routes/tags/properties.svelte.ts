// The properties of a tag as one form: a member for each class and key. Each property has its own
// version, because visitors change variables at any time.

import { getVersion, Problem, put, remove, type Version } from "../../lib/api/client";
import type { PropertyClass, Tag } from "../../lib/api/types";
import type { Draft } from "../../lib/ui/draft.svelte";
import { ChangedMeanwhile } from "../../lib/ui/resource.svelte";

/** Values by `class/key`; `null` for a property that is to be removed. */
export type Properties = Record<string, string | null>;

/** A property that is being typed. */
export const noProperty = () => ({ key: "", value: "" });
export type NewProperty = ReturnType<typeof noProperty>;

const classes: PropertyClass[] = ["variables", "attributes", "data"];

export const nameOf = (of: PropertyClass, key: string) => `${of}/${key}`;
export const classOf = (name: string) => name.slice(0, name.indexOf("/")) as PropertyClass;
export const keyOf = (name: string) => name.slice(name.indexOf("/") + 1);

/** Whether a text is the key of a property. */
export const isKey = (text: string): boolean => /^[A-Za-z0-9_.-]{1,64}$/.test(text);
export const KEY_WORDS = "A key has 1 to 64 letters, digits, dots, hyphens or underscores.";

/** All properties of a tag, or of a group. */
export const propertiesOf = (owner: Pick<Tag, PropertyClass>): Properties =>
  Object.fromEntries(classes.flatMap((of) => Object.entries(owner[of]).map(([key, value]) => [nameOf(of, key), value])));

/** Adds a typed new property to the edits. Returns false if it could not be added. */
export function addTyped(of: PropertyClass, draft: Draft<Properties>, added: Draft<NewProperty>): boolean {
  if (!added.changed) return true;
  const { key, value } = added.form;
  const name = nameOf(of, key);
  let wrong = null;
  if (key === "") wrong = "Give the new property a key.";
  else if (!isKey(key)) wrong = KEY_WORDS;
  else if ((draft.form[name] ?? null) !== null) wrong = `${key} already exists. Change its value above.`;
  if (wrong !== null) {
    added.wrong = { key: wrong };
    return false;
  }
  draft.form[name] = value;
  added.revert();
  return true;
}

/** Path and parameters of a property. The three classes have the same operations. */
const addressOf = (tag: number, name: string) => {
  return [`/tags/{id}/${classOf(name)}/{key}` as "/tags/{id}/variables/{key}", { id: tag, key: keyOf(name) }] as const;
};

/** The stored value; `null` if there is none. */
async function stored(tag: number, name: string): Promise<Version<{ value: string }> | null> {
  try {
    return await getVersion(...addressOf(tag, name));
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

/**
 * Saves the edits one after the other, each only over the value that was `seen`. Throws
 * `ChangedMeanwhile` at the first property that another person changed; the ones before it are
 * saved.
 */
export async function saveProperties(tag: number, edits: Properties, seen: Properties): Promise<void> {
  for (const [name, value] of Object.entries(edits)) {
    const [path, parameters] = addressOf(tag, name);
    const found = await stored(tag, name);
    const is = found?.value.value ?? null;
    if (is === value) continue;
    if (is !== (seen[name] ?? null))
      throw new ChangedMeanwhile(`Somebody else changed ${keyOf(name)} in the meantime. Compare the values, then save again.`);
    try {
      if (value === null) await remove(path, parameters, found?.etag);
      else await put(path, { value }, parameters, found?.etag);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === "changed") throw new ChangedMeanwhile();
      // The form has many properties, so the error gets the property's own field.
      throw new Problem(error.status, error.message, error.code, [{ field: name, message: error.message }]);
    }
  }
}
