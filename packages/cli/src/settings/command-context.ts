import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ConfigFlags, flagName } from './config-flags.ts';
import type { CommandContext } from './node-config.ts';
import { DEFAULT_FILE, DEFAULT_ROOT, DEFAULT_STATE, type NodePaths, nodePaths } from './node-paths.ts';

/**
 * What a command works with, under the flags. Settings that were given are checked for every command; without any, the schema and
 * the parser of the file are not even loaded. Errors are those of `loadConfig`.
 */
export async function commandContext(flags: ConfigFlags): Promise<CommandContext> {
  const settings = async () => (await import('./node-config.ts')).loadConfig(flags);
  return { config: plainPaths(flags) ?? (await settings()), settings, configArgs: configArguments(flags) };
}

/** The node's place where there is nothing to check: no file, and no flags but those that are any path. */
function plainPaths(flags: ConfigFlags): NodePaths | undefined {
  const { root = DEFAULT_ROOT, state = DEFAULT_STATE, ...others } = flags;
  if (Object.keys(others).length > 0 || root === '' || state === '' || existsSync(DEFAULT_FILE)) return undefined;
  return nodePaths({ root: resolve(root), state: resolve(state) });
}

/** The flags that choose a node, as another process of ours takes them. */
function configArguments(flags: ConfigFlags): string[] {
  return Object.entries(flags).flatMap(([name, value]) => [flagName(name), value]);
}
