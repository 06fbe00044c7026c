import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { errorMessage, isErrno, type Logger, PodwrightError } from '@podwright/base';
import type { Adaptation } from './adaptation.ts';
import { MAX_CONFIG_BYTES } from './limits.ts';
import { fullName, type PluginName, parsePluginFile } from './plugin-name.ts';

/** Directories of plugin executables and configuration files. */
export type PluginDirectories = { pluginPath: string; configPath: string };

/** An executable `NN-NAME` in the plugin directory, and the content of its configuration file. */
export type InstalledPlugin = { name: PluginName; program: string; config: string };

/**
 * Returns the installed plugins, sorted by name. Non-executable files are ignored; executables with a malformed name are logged. A plugin's
 * configuration is the content of `NN-NAME.conf` or, if that does not exist, `NAME.conf`.
 */
export async function findInstalledPlugins(
  { pluginPath, configPath }: PluginDirectories,
  logger: Logger,
): Promise<InstalledPlugin[]> {
  const found: InstalledPlugin[] = [];
  for (const file of (await filesIn(pluginPath)).sort()) {
    const program = join(pluginPath, file);
    try {
      if (!(await isExecutable(program))) continue;
      const name = parsePluginFile(file);
      found.push({ name, program, config: await configOf(configPath, name) });
    } catch (error) {
      logger.warn({ plugin: program, error: errorMessage(error) }, 'an installed NRI plugin is not started');
    }
  }
  return found;
}

/**
 * Starts the installed plugins concurrently, each with its connection as file descriptor 3. If a plugin fails, it is logged and killed. A
 * plugin is also killed when its connection ends. Returns a function that waits for all plugins to exit.
 */
export async function startInstalledPlugins(
  adaptation: Adaptation,
  directories: PluginDirectories,
  logger: Logger,
): Promise<() => Promise<void>> {
  const exits: Promise<void>[] = [];
  const start = async ({ name, program, config }: InstalledPlugin) => {
    const child = spawn(program, [], {
      env: { NRI_PLUGIN_NAME: name.base, NRI_PLUGIN_IDX: name.index, NRI_PLUGIN_SOCKET: '3' },
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    exits.push(exitOf(child));
    try {
      const plugin = await adaptation.connect(child.stdio[3] as Duplex, { name, config });
      void plugin.closed.then(() => child.kill('SIGKILL'));
    } catch (error) {
      child.kill('SIGKILL');
      logger.warn({ plugin: fullName(name), error: errorMessage(error) }, 'an installed NRI plugin was not started');
    }
  };
  await Promise.all((await findInstalledPlugins(directories, logger)).map(start));
  return async () => void (await Promise.all(exits));
}

function exitOf(child: ChildProcess): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  child.once('error', () => resolve()); // it could not be started; its connection ends
  return promise;
}

async function filesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

async function isExecutable(path: string): Promise<boolean> {
  if (!(await stat(path)).isFile()) return false;
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function configOf(directory: string, name: PluginName): Promise<string> {
  for (const file of [`${fullName(name)}.conf`, `${name.base}.conf`]) {
    try {
      await using handle = await open(join(directory, file));
      const { size } = await handle.stat();
      if (size > MAX_CONFIG_BYTES) throw new PodwrightError('resource_exhausted', `${file} has ${size} bytes`);
      return await handle.readFile('utf8');
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
    }
  }
  return '';
}
