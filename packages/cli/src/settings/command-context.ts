import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ConfigFlags, flagName } from './config-flags.ts';
import type { CommandContext } from './node-config.ts';
import { DEFAULT_FILE, DEFAULT_ROOT, DEFAULT_STATE, type NodePaths, nodePaths } from './node-paths.ts';
import { readText } from './read-text.ts';

/**
 * What a command works with, under the flags. A client needs only the paths of its node: they are read without the schema of the
 * file, which costs more to load than the rest of the command. `settings()` checks the whole file: the daemons, `check`, `doctor`
 * and a command that starts a node call it. Errors are those of `loadConfig`.
 */
export async function commandContext(flags: ConfigFlags): Promise<CommandContext> {
  const settings = async () => (await import('./node-config.ts')).loadConfig(flags);
  return { config: (await plainPaths(flags)) ?? (await settings()), settings, configArgs: configArguments(flags) };
}

/** The node's paths from the flags and the file; `undefined` if the file cannot be read or a path in it is not a non-empty string. */
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

/** The file's own values, unchecked; none without a file. */
async function givenPaths(config: string | undefined): Promise<Record<string, unknown> | undefined> {
  if (config === undefined && !existsSync(DEFAULT_FILE)) return {};
  try {
    const text = readText(resolve(config ?? DEFAULT_FILE));
    return text.trim() === '' ? {} : (await import('smol-toml')).parse(text);
  } catch {
    return undefined;
  }
}

/** The flags that choose a node, as another process of ours takes them. */
function configArguments(flags: ConfigFlags): string[] {
  return Object.entries(flags).flatMap(([name, value]) => [flagName(name), value]);
}
