// What belongs to one connection: the screens may show another one while it is under way.

import { shell } from "./shell.svelte";

/** Returns a function that says whether the screens show another service by now. */
export function switchedSince(): () => boolean {
  const id = shell.ready?.connection.id;
  // A service that starts again is still the same one.
  return () => shell.ready !== null && shell.ready.connection.id !== id;
}

/** `work` for later, which is not done if the screens show another service by then. */
export function unlessSwitched<T>(work: () => T): () => T | undefined {
  const switched = switchedSince();
  return () => (switched() ? undefined : work());
}

/**
 * One `T` for each connection, made when it is first used; whoever uses it uses that of the connected
 * service. A method that has begun goes on with the one that it began with.
 */
export function perConnection<T extends object>(make: () => T): T {
  const all = new Map<string, T>();
  function here(): T {
    const id = shell.ready?.connection.id ?? "";
    let one = all.get(id);
    if (one === undefined) {
      // An effect does not follow the state that it makes itself, and it may be one that asks first: so a root of
      // its own makes it. Where nothing has effects, that makes nothing.
      $effect.root(() => void (one = make()));
      one ??= make();
      all.set(id, one);
    }
    return one;
  }
  return new Proxy({} as T, {
    get: (_, name) => {
      const one = here();
      const member: unknown = Reflect.get(one, name, one);
      return typeof member === "function" ? (member.bind(one) as unknown) : member;
    },
    set: (_, name, value) => Reflect.set(here(), name, value),
  });
}
