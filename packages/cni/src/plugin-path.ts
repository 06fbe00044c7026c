import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import type { NetworkList } from './network-list.ts';

/** Plugins of the reference collection, which distributions ship in one package. */
const referencePlugins = new Set(
  'bandwidth bridge dhcp dummy firewall host-device host-local ipvlan loopback macvlan portmap ptp sbr static tap tuning vlan vrf'.split(
    ' ',
  ),
);

/** The program of this name (a plugin is called after its type) in the first directory that has it. */
export async function findProgram(type: string, directories: string[]): Promise<string | undefined> {
  for (const directory of directories) {
    const path = join(directory, type);
    if (await isProgram(path)) return path;
  }
  return undefined;
}

/** The plugins that a network needs, address plugins among them, and that are in none of the directories. */
export async function missingPlugins(list: NetworkList, directories: string[]): Promise<string[]> {
  const types = list.plugins.flatMap(({ type, ipamType }) => (ipamType === undefined ? [type] : [type, ipamType]));
  const unique = [...new Set(types)];
  const found = await Promise.all(unique.map((type) => findProgram(type, directories)));
  return unique.filter((_, index) => found[index] === undefined);
}

/** Says which plugins are missing, where they were sought and how to get them. */
export function missingPluginsError(missing: string[], directories: string[]): PodwrightError {
  const names = missing.map((type) => JSON.stringify(type)).join(', ');
  const hint = missing.some((type) => referencePlugins.has(type))
    ? '; install them, on Debian and Ubuntu with: apt install containernetworking-plugins'
    : '; install what provides them, or put the programs there';
  const where = directories.join(', ') || 'no directory at all';
  return new PodwrightError('failed_precondition', `CNI plugins not found: ${names} (searched: ${where})${hint}`);
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
