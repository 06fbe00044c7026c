import { networkInterfaces } from 'node:os';
import { addressBytes, deleteFlows, type Flow, flowsTo } from '@podwright/system';
import { LOOPBACK } from './host-ruleset.ts';
import type { NetfilterSocket } from './packet-filter.ts';
import type { PortRule } from './port-rules.ts';

const UDP = 17;

/**
 * Deletes UDP conntrack flows to published ports that started before the port was forwarded to its current pod. NAT rules see only a flow's
 * first packet, so an active flow would keep its old destination forever. TCP and SCTP connections end on their own if no pod replies.
 */
export async function deleteStaleFlows(netfilter: NetfilterSocket, ports: PortRule[]): Promise<void> {
  let addresses: ReadonlySet<string> | undefined;
  const local = () => (addresses ??= localAddresses());
  await deleteUdpFlows(netfilter, ports, ({ destination, answeredBy }, { hostIp, ip }) => {
    const toHost = hostIp === undefined ? isLocal(destination, local()) : destination.equals(addressBytes(hostIp));
    return toHost && !answeredBy.equals(addressBytes(ip));
  });
}

/**
 * Like `deleteStaleFlows`, but for ports that are no longer published. Otherwise their flows would reach the next pod with the same
 * address.
 */
export async function deleteWithdrawnFlows(netfilter: NetfilterSocket, ports: PortRule[]): Promise<void> {
  await deleteUdpFlows(netfilter, ports, ({ destination, answeredBy }, { ip }) => {
    const pod = addressBytes(ip);
    return answeredBy.equals(pod) && !destination.equals(pod);
  });
}

async function deleteUdpFlows(
  netfilter: NetfilterSocket,
  ports: PortRule[],
  isStale: (flow: Flow, port: PortRule) => boolean,
): Promise<void> {
  for (const port of ports.filter(({ protocol }) => protocol === 'udp')) {
    const flows = await flowsTo(netfilter(), { version: port.version, protocol: UDP, port: port.hostPort });
    await deleteFlows(
      netfilter(),
      flows.filter((flow) => isStale(flow, port)),
    );
  }
}

const isLocal = (address: Buffer, local: ReadonlySet<string>): boolean =>
  local.has(address.toString('hex')) || (address.length === 4 && address[0] === Number(LOOPBACK.split('.')[0]));

function localAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(all.map(({ address }) => addressBytes(address.replace(/%.*/, '')).toString('hex')));
}
