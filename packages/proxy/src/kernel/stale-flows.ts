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
 * After a Service change, deletes the conntrack entries of UDP flows to its frontends (address and port) that are not translated to an
 * endpoint that is serving now. NAT rules see only a flow's first packet, and the entry of an active flow never expires, so the flow would
 * keep its old destination. TCP and SCTP connections end by themselves if the endpoint no longer replies.
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

/**
 * Whether a flow is stale. A flow to a removed frontend is stale only if it was translated to one of the frontend's endpoints: the
 * frontend's address might belong to this host, which might have other flows to it.
 */
function isStale(flow: Flow, before: UdpFrontend | undefined, after: UdpFrontend | undefined): boolean {
  if (!flow.destination.equals(addressBytes((after ?? before)!.address))) return false;
  const endpoint = endpointKey({ address: addressText(flow.answeredBy), port: flow.answeredFrom });
  return after === undefined ? before!.endpoints.has(endpoint) : !after.endpoints.has(endpoint);
}
