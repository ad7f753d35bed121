// The addresses by which phones of this network reach the embedded service.

import { allowPhones, shellState } from "../shell/desktop";

/**
 * Opens the listener to this network. Returns its tag URLs there, the one of the default route
 * first.
 */
export async function openToNetwork(): Promise<string[]> {
  await allowPhones(true);
  const state = await shellState();
  return state.phase === "ready" ? state.lan.map(onNetwork) : [];
}

/** The tag URL of an address of this computer. */
export const onNetwork = (lan: string): string => `${lan}/t`;
