/**
 * The parts shared by all netfilter messages (linux/netfilter/nfnetlink.h): the upper byte of the message type is the subsystem, and each
 * message starts with struct nfgenmsg.
 */
export const nfnetlinkSubsystems = { conntrack: 1, nftables: 10 } as const;

/** enum nfproto (linux/netfilter.h); also used as address families. */
export const nfProtocols = { unspecified: 0, inet: 1, ip: 2, ip6: 10 } as const;

/** Returns the netlink message type for a subsystem's message. */
export const nfnetlinkType = (subsystem: keyof typeof nfnetlinkSubsystems, message: number): number =>
  (nfnetlinkSubsystems[subsystem] << 8) | message;

/** struct nfgenmsg: u8 family, u8 version, be16 resource. */
export function nfnetlinkHeader(family: number, resource = 0): Buffer {
  const bytes = Buffer.from([family, 0, 0, 0]);
  bytes.writeUInt16BE(resource, 2);
  return bytes;
}
