import { PodwrightError } from '@podwright/base';
import { findProgram } from '@podwright/host';
import type { NetworkList } from './network-list.ts';

/** Plugins of the CNI project's reference collection, which distributions ship as one package. */
const referencePlugins = new Set(
  'bandwidth bridge dhcp dummy firewall host-device host-local ipvlan loopback macvlan portmap ptp sbr static tap tuning vlan vrf'.split(
    ' ',
  ),
);

/** Returns the plugins, including IPAM plugins, that a network needs but that are in none of the directories. */
export function missingPlugins(list: NetworkList, directories: string[]): string[] {
  const types = list.plugins.flatMap(({ type, ipamType }) => (ipamType === undefined ? [type] : [type, ipamType]));
  return [...new Set(types)].filter((type) => findProgram(type, directories) === undefined);
}

/** Builds the error for missing plugins. It names the plugins and the searched directories, and says how to install the plugins. */
export function missingPluginsError(missing: string[], directories: string[]): PodwrightError {
  const names = missing.map((type) => JSON.stringify(type)).join(', ');
  const hint = missing.some((type) => referencePlugins.has(type))
    ? '; install them, on Debian and Ubuntu with: apt install containernetworking-plugins'
    : '; install what provides them, or put the programs there';
  const where = directories.join(', ') || 'no directory at all';
  return new PodwrightError('failed_precondition', `CNI plugins not found: ${names} (searched: ${where})${hint}`);
}
