import { type Attribute, decodeAttributes, u8, u32 } from './message.ts';
import { type NetlinkSocket, requestFlags } from './netlink-socket.ts';
import { nfnetlinkHeader, nfnetlinkType, nfProtocols } from './nfnetlink.ts';
import type { IpVersion } from './nft-encoding.ts';

/** A connection tracked by the kernel (linux/netfilter/nfnetlink_conntrack.h). */
export type Flow = {
  destination: Buffer;
  /** Source address of the replies. Differs from `destination` after destination NAT. */
  answeredBy: Buffer;
  /** Source port of the replies. May differ from the destination port after destination NAT. */
  answeredFrom: number;
  /** Attributes by which the kernel identifies the flow. */
  identity: { version: IpVersion; attributes: Attribute[] };
};

const IPCTNL_MSG_CT_GET = 1;
const IPCTNL_MSG_CT_DELETE = 2;
const FAMILIES = { 4: nfProtocols.ip, 6: nfProtocols.ip6 } as const;
const CTA_TUPLE_ORIG = 1;
const CTA_TUPLE_REPLY = 2;
const CTA_ID = 12;
const CTA_ZONE = 18;
const CTA_FILTER = 25;
const CTA_TUPLE_IP = 1;
const CTA_TUPLE_PROTO = 2;
const CTA_PROTO_NUM = 1;
const CTA_PROTO_SRC_PORT = 2;
const CTA_PROTO_DST_PORT = 3;
/** Source and destination attribute types within CTA_TUPLE_IP. */
const ADDRESSES = { 4: { source: 1, destination: 2 }, 6: { source: 3, destination: 4 } } as const;
/** CTA_FILTER_F_CTA_PROTO_NUM and CTA_FILTER_F_CTA_PROTO_DST_PORT (net/netfilter/nf_internals.h of the kernel). */
const FILTER_BY = (1 << 3) | (1 << 5);

/**
 * Lists the flows of a protocol to a port, on any address. Kernels before 5.8 ignore the filter and list all flows, so the responses are
 * filtered here too.
 */
export async function flowsTo(
  socket: NetlinkSocket,
  request: { version: IpVersion; protocol: number; port: number },
): Promise<Flow[]> {
  const { version, protocol } = request;
  const port = Buffer.alloc(2);
  port.writeUInt16BE(request.port);
  const ofPort: Attribute[] = [
    [CTA_PROTO_NUM, u8(protocol)],
    [CTA_PROTO_DST_PORT, port],
  ];
  const attributes: Attribute[] = [
    [CTA_TUPLE_ORIG, [[CTA_TUPLE_PROTO, ofPort]]],
    [
      CTA_FILTER,
      [
        [1, u32(FILTER_BY)],
        [2, u32(0)],
      ],
    ],
  ];
  const what = `list flows of protocol ${protocol} to port ${request.port}`;
  const type = nfnetlinkType('conntrack', IPCTNL_MSG_CT_GET);
  const body = nfnetlinkHeader(FAMILIES[version]);
  const [answers] = await socket.request([{ what, type, flags: requestFlags.dump, body, attributes }]);
  return answers!.flatMap((answer) => {
    const flow = decodeAttributes(answer.body.subarray(4));
    const original = decodeAttributes(flow.get(CTA_TUPLE_ORIG)!);
    const itsProtocol = decodeAttributes(original.get(CTA_TUPLE_PROTO)!);
    const isRequested =
      itsProtocol.get(CTA_PROTO_NUM)?.[0] === protocol && itsProtocol.get(CTA_PROTO_DST_PORT)?.equals(port);
    return isRequested ? [flowOf(version, flow)] : [];
  });
}

/**
 * Deletes entries from the kernel's conntrack table; the next packet of each flow then creates a new entry. Ignores entries that no longer
 * exist.
 */
export async function deleteFlows(socket: NetlinkSocket, flows: Flow[]): Promise<void> {
  if (flows.length === 0) return;
  const type = nfnetlinkType('conntrack', IPCTNL_MSG_CT_DELETE);
  const requests = flows.map(({ identity: { version, attributes } }) => {
    const body = nfnetlinkHeader(FAMILIES[version]);
    return { what: 'delete a conntrack flow', type, body, attributes, ignore: ['ENOENT'] };
  });
  await socket.request(requests);
}

function flowOf(version: IpVersion, flow: Map<number, Buffer>): Flow {
  const replies = decodeAttributes(decodeAttributes(flow.get(CTA_TUPLE_REPLY)!).get(CTA_TUPLE_PROTO)!);
  const addresses = (tuple: number) => decodeAttributes(decodeAttributes(flow.get(tuple)!).get(CTA_TUPLE_IP)!);
  const { source, destination } = ADDRESSES[version];
  const attributes = [CTA_TUPLE_ORIG, CTA_ID, CTA_ZONE].flatMap((type): Attribute[] => {
    const value = flow.get(type);
    return value === undefined ? [] : [[type === CTA_TUPLE_ORIG ? type | 0x8000 : type, value]];
  });
  return {
    destination: Buffer.from(addresses(CTA_TUPLE_ORIG).get(destination)!),
    answeredBy: Buffer.from(addresses(CTA_TUPLE_REPLY).get(source)!),
    answeredFrom: replies.get(CTA_PROTO_SRC_PORT)!.readUInt16BE(),
    identity: { version, attributes },
  };
}
