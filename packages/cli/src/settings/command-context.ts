import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ConfigFlags, flagName } from './config-flags.ts';
import type { CommandContext } from './node-config.ts';
import { DEFAULT_FILE, DEFAULT_ROOT, DEFAULT_STATE, type NodePaths, nodePaths } from './node-paths.ts';
import { readText } from './read-text.ts';

/**
 * Returns the node's paths and settings for a command; flags override the configuration file. Clients need only the paths, which are read
 * without loading the file's schema, because that would take longer than the rest of the command. `settings()` validates the whole file; it
 * is called by the daemons, `check`, `doctor` and commands that start a node. Throws like `loadConfig`.
 */
export async function commandContext(flags: ConfigFlags): Promise<CommandContext> {
  const settings = async () => (await import('./node-config.ts')).loadConfig(flags);
  return { config: (await plainPaths(flags)) ?? (await settings()), settings, configArgs: configArguments(flags) };
}

/**
 * Returns the node's paths from the flags and the configuration file. Returns `undefined` if the file cannot be read, or if one of its
 * paths is empty or not a string.
 */
async function plainPaths({ config, root, state }: ConfigFlags): Promise<NodePaths | undefined> {
  const given = await givenPaths(config);
  if (given === undefined) return undefined;
  const paths = [root ?? given.root ?? DEFAULT_ROOT, state ?? given.state ?? DEFAULT_STATE];
  const [rootPath, statePath] = paths.map((path) =>
    typeof path === 'string' && path !== '' ? resolve(path) : undefined,
  );
  if (rootPath === undefined || statePath === undefined) return undefined;
  return nodePaths({ root: rootPath, state: statePath });
}

/** Reads the configuration file without validating it. Returns `{}` if there is no file, and `undefined` if it cannot be read. */
async function givenPaths(config: string | undefined): Promise<Record<string, unknown> | undefined> {
  if (config === undefined && !existsSync(DEFAULT_FILE)) return {};
  try {
    const text = readText(resolve(config ?? DEFAULT_FILE));
    return text.trim() === '' ? {} : (await import('smol-toml')).parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the flags that select the node, as arguments for a different podwright process. */
function configArguments(flags: ConfigFlags): string[] {
  return Object.entries(flags).flatMap(([name, value]) => [flagName(name), value]);
}
