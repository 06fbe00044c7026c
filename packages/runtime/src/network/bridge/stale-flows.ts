import { networkInterfaces } from 'node:os';
import { addressBytes, type Flow, flowsTo, forgetFlows } from '@podwright/system';
import { LOOPBACK } from './host-ruleset.ts';
import type { NetfilterSocket } from './packet-filter.ts';
import type { PortRule } from './port-rules.ts';

const UDP = 17;

/**
 * Makes the kernel forget UDP flows to published ports that began when the port led elsewhere: the rules are only asked at a
 * flow's first packet, and one that goes on never ends. TCP and SCTP connections end by themselves, answered by nobody.
 */
export async function forgetStaleFlows(netfilter: NetfilterSocket, ports: PortRule[]): Promise<void> {
  const ofUdp = ports.filter(({ protocol }) => protocol === 'udp');
  if (ofUdp.length === 0) return;
  const local = localAddresses();
  const socket = netfilter();
  for (const port of ofUdp) {
    const flows = await flowsTo(socket, { version: port.version, protocol: UDP, port: port.hostPort });
    const stale = flows.filter((flow) => isStale(flow, port, local));
    await forgetFlows(socket, stale);
  }
}

/** Whether a flow to a port of the host is answered by somebody else than the pod that the port leads to. */
function isStale({ destination, answeredBy }: Flow, { hostIp, ip }: PortRule, local: ReadonlySet<string>): boolean {
  const toHost = hostIp === undefined ? isLocal(destination, local) : destination.equals(addressBytes(hostIp));
  return toHost && !answeredBy.equals(addressBytes(ip));
}

const isLocal = (address: Buffer, local: ReadonlySet<string>): boolean =>
  local.has(address.toString('hex')) || (address.length === 4 && address[0] === Number(LOOPBACK.split('.')[0]));

function localAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(all.map(({ address }) => addressBytes(address.replace(/%.*/, '')).toString('hex')));
}
