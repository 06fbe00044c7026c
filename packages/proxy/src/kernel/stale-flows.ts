import {
  addressBytes,
  addressText,
  deleteFlows,
  type Flow,
  flowsTo,
  type IpVersion,
  type NetlinkSocket,
} from '@podwright/system';
import { endpointKey } from '../services/endpoints.ts';
import { PROTOCOL_NUMBERS } from '../services/service-port.ts';
import type { UdpChange, UdpFrontend } from '../table/udp-frontends.ts';

/**
 * Deletes the conntrack entries of UDP flows to changed frontends that do not lead to a serving endpoint: rules apply only to a flow's
 * first packet, and an active flow never expires. TCP and SCTP connections end by themselves if no endpoint replies.
 */
export async function deleteStaleFlows(socket: NetlinkSocket, change: UdpChange): Promise<void> {
  const changed = [...new Set([...change.before.keys(), ...change.after.keys()])].flatMap((id) => {
    const [before, after] = [change.before.get(id), change.after.get(id)];
    return before !== undefined && after !== undefined && isSame(before, after) ? [] : [{ before, after }];
  });
  const byPort = Map.groupBy(
    changed,
    ({ before, after }) => `${(after ?? before)!.version} ${(after ?? before)!.port}`,
  );
  for (const [key, frontends] of byPort) {
    const [version, port] = key.split(' ').map(Number) as [IpVersion, number];
    const flows = await flowsTo(socket, { version, protocol: PROTOCOL_NUMBERS.UDP, port });
    await deleteFlows(
      socket,
      flows.filter((flow) => frontends.some(({ before, after }) => isStale(flow, before, after))),
    );
  }
}

const isSame = (before: UdpFrontend, after: UdpFrontend): boolean =>
  before.endpoints.size === after.endpoints.size && [...before.endpoints].every((key) => after.endpoints.has(key));

/** Flows to a removed frontend are stale only if they lead to one of its endpoints, because the address may belong to this host. */
function isStale(flow: Flow, before: UdpFrontend | undefined, after: UdpFrontend | undefined): boolean {
  if (!flow.destination.equals(addressBytes((after ?? before)!.address))) return false;
  const endpoint = endpointKey({ address: addressText(flow.answeredBy), port: flow.answeredFrom });
  return after === undefined ? before!.endpoints.has(endpoint) : !after.endpoints.has(endpoint);
}
