import { addressBytes, addressText } from './ip-address.ts';
import { type Attribute, decodeAttributes, type NetlinkMessage, u32 } from './message.ts';
import { type NetlinkRequest, requestFlags } from './netlink-socket.ts';

// Constants from linux/rtnetlink.h, linux/if_addr.h and linux/socket.h.
const RTM_NEWADDR = 20;
const RTM_DELADDR = 21;
const RTM_GETADDR = 22;
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const IFA_BROADCAST = 4;
const IFA_FLAGS = 8;
const IFA_F_NODAD = 2;
const AF_INET = 2;
const AF_INET6 = 10;
const RT_SCOPE_LINK = 253;
/** struct ifaddrmsg: u8 family, prefix length, flags and scope, u32 link index. */
const HEADER_BYTES = 8;

/** A link's address and the prefix length of its subnet. */
export type LinkAddress = { linkIndex: number; address: string; prefixLength: number };

/**
 * Adds an address to a link; no error if the link already has it. IPv6 addresses are usable immediately, because duplicate address
 * detection is turned off.
 */
export function addAddress(added: LinkAddress): NetlinkRequest {
  const bytes = addressBytes(added.address);
  const attributes = [...own(bytes)];
  if (bytes.length === 4) attributes.push([IFA_BROADCAST, broadcast(bytes, added.prefixLength)]);
  else attributes.push([IFA_FLAGS, u32(IFA_F_NODAD)]);
  return {
    what: `add address ${added.address}/${added.prefixLength}`,
    type: RTM_NEWADDR,
    flags: requestFlags.create | requestFlags.excl,
    body: header(added, bytes),
    attributes,
    ignore: ['EEXIST'],
  };
}

/** Removes an address from a link; no error if it is not there. */
export function removeAddress(removed: LinkAddress): NetlinkRequest {
  const bytes = addressBytes(removed.address);
  return {
    what: `remove address ${removed.address}/${removed.prefixLength}`,
    type: RTM_DELADDR,
    body: header(removed, bytes),
    attributes: own(bytes),
    ignore: ['EADDRNOTAVAIL'],
  };
}

/** Lists the addresses of all links. */
export function listAddresses(): NetlinkRequest {
  return { what: 'list addresses', type: RTM_GETADDR, flags: requestFlags.dump, body: Buffer.alloc(HEADER_BYTES) };
}

/** Decodes a response to `listAddresses`; `undefined` for link-scope addresses and non-IP address families. */
export function decodeAddress({ body }: NetlinkMessage): LinkAddress | undefined {
  if (body[0] !== AF_INET && body[0] !== AF_INET6) return undefined;
  const attributes = decodeAttributes(body.subarray(HEADER_BYTES));
  const bytes = attributes.get(IFA_LOCAL) ?? attributes.get(IFA_ADDRESS);
  if (bytes === undefined || body[3] === RT_SCOPE_LINK) return undefined;
  return { linkIndex: body.readUInt32LE(4), address: addressText(bytes), prefixLength: body[1]! };
}

function header({ prefixLength, linkIndex }: LinkAddress, bytes: Buffer): Buffer {
  const encoded = Buffer.from([bytes.length === 4 ? AF_INET : AF_INET6, prefixLength, 0, 0, 0, 0, 0, 0]);
  encoded.writeUInt32LE(linkIndex, 4);
  return encoded;
}

const own = (bytes: Buffer): Attribute[] => [
  [IFA_LOCAL, bytes],
  [IFA_ADDRESS, bytes],
];

function broadcast(bytes: Buffer, prefixLength: number): Buffer {
  const hostBits = 2 ** (32 - prefixLength) - 1;
  const encoded = Buffer.alloc(4);
  encoded.writeUInt32BE((bytes.readUInt32BE() | hostBits) >>> 0);
  return encoded;
}
