import type { CommandContext } from '../settings/node-config.ts';

/**
 * Wraps the code of a command, which gets the configuration, the command's arguments and its options, and returns the exit code. The code
 * is loaded when the command is called, so that `ps` does not load the daemons.
 */
export type Action = <Values extends unknown[]>(
  work: (context: CommandContext, values: Values) => Promise<unknown>,
) => (...values: unknown[]) => Promise<void>;
