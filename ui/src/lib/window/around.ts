// The interface of forms and lists to their window, so that they do not depend on the shell.

import { reach } from "../api/reach";
import { setUnsaved } from "../shell/desktop";
import { shell } from "../shell/shell.svelte";

export const around = {
  /** The id of the shown connection: drafts and places belong to one. `null` if there is none. */
  connection: (): string | null => shell.ready?.connection.id ?? null,
  /**
   * Calls `heard` each time a lost service responds again, until the returned function is called.
   */
  onBack: (heard: () => unknown): (() => void) => reach.onBack(heard),
  /** Is called with whether closing the window would lose something. */
  unsaved: (unsaved: boolean): void => void setUnsaved(unsaved),
};
