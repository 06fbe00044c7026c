import type { ConfigFlags } from '../settings/config-flags.ts';
import { loadConfig } from '../settings/node-config.ts';
import { executeAgain } from './execute-again.ts';
import { runNode } from './node.ts';

/** Runs `podwright node`. If the node was stopped for a restart, executes the program again. */
export async function nodeCommand(flags: ConfigFlags): Promise<void> {
  const config = loadConfig(flags);
  const directory = process.cwd();
  process.chdir('/'); // all paths are absolute now, and a daemon must not keep a directory from being unmounted
  const { restart } = await runNode(config);
  if (restart) executeAgain(directory);
}
