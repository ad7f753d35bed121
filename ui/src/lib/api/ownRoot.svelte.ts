// Objects with state that outlive the effect that creates them.

import { untrack } from "svelte";

/** The creation that the prepared value runs. */
let creation: () => void = () => undefined;

/**
 * Svelte computes a derived value in the effect that created the value, not in the one that reads it.
 * The first value is created with this module, in no effect, and each one creates its successor
 * there. A value is used once, because Svelte does not compute it again.
 */
function prepare(): () => unknown {
  const value = $derived.by(() => {
    // The creation may need another value: its successor has to be there before.
    next = prepare();
    creation();
  });
  return () => value;
}

let next = prepare();

/**
 * Creates an object in an effect root that has no parent. The root of `$effect.root` is a child of
 * the running effect. If that is a block, such as `{#if}`, Svelte destroys the root when the condition
 * changes. After that, the object's derived values never change again.
 */
export function inOwnRoot<T>(make: () => T): T {
  let made: { one: T } | null = null;
  const create = () => (made ??= { one: make() });
  creation = () => void $effect.root(() => void create());
  untrack(next);
  // Unit tests compile this code for a server, where effects do not run.
  return create().one;
}
