// The connected service, as its client needs it. The shell implements it, so that this code does not
// depend on the shell.

export const service = {
  /** The id of its connection; `null` while no service is ready. */
  connection: (): string | null => null,
  /** The name of its connection, for messages. */
  name: (): string => "",
  /** The prefix of every path. */
  base: (): string => "",
};
