import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filterBridgedPackets, type IpVersion, type NetlinkSockets } from '@podwright/system';

/** Directory that exists while the module `br_netfilter` is loaded, which can pass bridged packets to the host's packet filter. */
const ALL_BRIDGES = '/proc/sys/net/bridge';
const LINKS = '/sys/class/net';
const SWITCHES: Record<IpVersion, string> = { 4: 'iptables', 6: 'ip6tables' };

export type BridgeFilterPlaces = { allBridges: string; links: string };

/** Whether `br_netfilter` is loaded, so that the kernel can pass bridged packets to the packet filter. */
export const canFilterBridges = (): boolean => existsSync(ALL_BRIDGES);

/** Makes the kernel pass a bridge's packets to the host's packet filter. Does nothing if the bridge does not exist. */
export async function filterBridge(sockets: NetlinkSockets, bridge: string): Promise<void> {
  const socket = sockets.open('route');
  try {
    await socket.request([{ ...filterBridgedPackets(bridge), ignore: ['ENODEV'] }]);
  } finally {
    socket.close();
  }
}

/** Returns whether the kernel passes the packets of this bridge, or of all bridges, to the packet filter. */
export function isBridgeFiltered(
  bridge: string,
  version: IpVersion,
  { allBridges, links }: BridgeFilterPlaces = { allBridges: ALL_BRIDGES, links: LINKS },
): boolean {
  const name = SWITCHES[version];
  const isOn = (...path: string[]) => readSwitch(join(...path)) === '1';
  if (!existsSync(allBridges)) return false; // without the module, the setting of a bridge has no effect
  return isOn(allBridges, `bridge-nf-call-${name}`) || isOn(links, bridge, `bridge/nf_call_${name}`);
}

function readSwitch(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined; // no such bridge yet
  }
}
