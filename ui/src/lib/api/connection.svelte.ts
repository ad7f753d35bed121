// State that belongs to one connection: the screens may switch to another one in the meantime.

import { inOwnRoot } from "./ownRoot.svelte";
import { service } from "./service";

/** Returns a function that says whether the screens show another service by now. */
export function switchedSince(): () => boolean {
  const id = service.connection();
  return () => {
    const now = service.connection();
    // A service that restarts is still the same one.
    return now !== null && now !== id;
  };
}

/** Wraps `work` for later: it does nothing if the screens show another service by then. */
export function unlessSwitched<T>(work: () => T): () => T | undefined {
  const switched = switchedSince();
  return () => (switched() ? undefined : work());
}

/**
 * One `T` for each connection, created at its first use. Every access uses the object of the
 * connected service. A method that has begun continues with its own object.
 */
export function perConnection<T extends object>(make: () => T): T {
  const all = new Map<string, T>();
  function here(): T {
    const id = service.connection() ?? "";
    let one = all.get(id);
    if (one === undefined) {
      // The first use may be in an effect. The object outlives it, and an effect does not track state
      // that it creates itself.
      one = inOwnRoot(make);
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
