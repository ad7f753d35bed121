// What forms and lists ask of the window that they are in. The shell answers it: nothing here knows the shell.

export const around = {
  /** What is shown: drafts and places of another one are apart. `null` while there is nothing. */
  connection: (): string | null => null,
  /** Hears whether closing the window would lose something. */
  unsaved: (_unsaved: boolean): void => undefined,
};
