import type { CommandContext } from '../settings/node-config.ts';

/**
 * Wraps a command's code: configuration in, exit code out. The values are the command's arguments, then its options. The code is
 * loaded when the command is called, so that `ps` does not pay for the daemons.
 */
export type Action = <Values extends unknown[]>(
  work: (context: CommandContext, values: Values) => Promise<unknown>,
) => (...values: unknown[]) => Promise<void>;
