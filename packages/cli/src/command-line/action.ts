import type { CommandContext } from '../settings/node-config.ts';

/**
 * Wraps the implementation of a command, which is loaded lazily, so that `ps` does not load the daemons. The implementation receives the
 * configuration and the command's arguments and options, and returns the exit code.
 */
export type Action = <Values extends unknown[]>(
  work: (context: CommandContext, values: Values) => Promise<unknown>,
) => (...values: unknown[]) => Promise<void>;
