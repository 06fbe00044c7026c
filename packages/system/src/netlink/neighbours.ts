import type { Attribute } from './message.ts';
import { type NetlinkRequest, requestFlags } from './netlink-socket.ts';

// Constants from linux/rtnetlink.h, linux/neighbour.h and linux/socket.h.
const RTM_NEWNEIGH = 28;
const NDA_LLADDR = 2;
const NTF_MASTER = 0x04;
const NUD_NOARP = 0x40;
const AF_BRIDGE = 7;
/** struct ndmsg: u8 family, 3 bytes of padding, i32 link index, u16 state, u8 flags, u8 type. */
const HEADER_BYTES = 12;

/**
 * Adds an entry to a bridge's forwarding database, replacing any existing one: frames for a hardware address leave through this port. The
 * entry is static: it does not age, is not affected by frames from other ports, and is removed along with the port.
 */
export function addForwarding(entry: { linkIndex: number; hardwareAddress: Buffer }): NetlinkRequest {
  const body = Buffer.alloc(HEADER_BYTES);
  body.writeUInt8(AF_BRIDGE, 0);
  body.writeInt32LE(entry.linkIndex, 4);
  body.writeUInt16LE(NUD_NOARP, 8);
  body.writeUInt8(NTF_MASTER, 10);
  const attributes: Attribute[] = [[NDA_LLADDR, entry.hardwareAddress]];
  return {
    what: `forward ${entry.hardwareAddress.toString('hex')} to link ${entry.linkIndex}`,
    type: RTM_NEWNEIGH,
    flags: requestFlags.create | requestFlags.replace,
    body,
    attributes,
  };
}
