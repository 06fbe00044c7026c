import type { NodeConfig } from './config.ts';

/** What every command gets: the settings, and the flags that select the same node for another process of ours. */
export type CommandContext = { config: NodeConfig; configArgs: string[] };
