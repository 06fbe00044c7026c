import { existsSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { silentLogger, Undo } from '@podwright/base';
import { discoverCgroups, removeCgroup, withoutLinks } from '@podwright/host';
import { loadSystem, unmountTree } from '@podwright/system';
import { tryBuiltins } from './builtins.ts';
import type { RuntimeOptions } from './options.ts';
import type { PluginState } from './plugin/plugin.ts';
import { openRecords } from './runtime-records.ts';

/**
 * Dry run: returns which plugins a container runtime with these options could start, by trying them in temporary directories and in a
 * temporary cgroup next to the runtime's own. Requires root. Throws `invalid_argument` for an invalid configuration.
 */
export async function inspectPlugins(options: RuntimeOptions): Promise<PluginState[]> {
  const undo = new Undo();
  const scratch = (path: string) => {
    const directory = mkdtempSync(join(nearestDirectory(withoutLinks(path)), '.podwright-plugins-'));
    undo.add(`remove ${directory}`, () => rm(directory, { recursive: true, force: true }));
    return directory;
  };
  try {
    const [root, state] = [scratch(options.root), scratch(options.state)];
    undo.add('unmount the file systems of the trials', () => unmountTree(loadSystem(), state));
    const cgroupParent = join(dirname(options.cgroupParent), basename(state).slice(1));
    undo.add('remove the cgroup', async () => removeCgroup(await discoverCgroups(), cgroupParent));
    const records = openRecords({ root, state, logger: silentLogger });
    undo.add('close the records', () => void records.database.close());
    return await tryBuiltins({ ...options, root, state, cgroupParent, logger: silentLogger }, records);
  } finally {
    await undo.run();
  }
}

function nearestDirectory(path: string): string {
  return existsSync(path) ? path : nearestDirectory(dirname(path));
}
