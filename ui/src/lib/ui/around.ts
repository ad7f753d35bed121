// The interface of forms and lists to their window. The shell implements it, so that this code does
// not depend on the shell.

export const around = {
  /** The id of the shown connection: drafts and places belong to one. `null` if there is none. */
  connection: (): string | null => null,
  /**
   * Calls `heard` each time a lost service responds again, until the returned function is called.
   */
  onBack:
    (_heard: () => unknown): (() => void) =>
    () =>
      undefined,
  /** Is called with whether closing the window would lose something. */
  unsaved: (_unsaved: boolean): void => undefined,
};
