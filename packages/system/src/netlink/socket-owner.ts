import { readSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { syscallError } from '../errno.ts';
import { loadLibc } from '../libc.ts';
import { addressBytes } from './ip-address.ts';
import { encodeMessage } from './message.ts';
import { requestFlags } from './netlink-socket.ts';

// Constants from linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h and net/tcp_states.h; see socket(2) and sock_diag(7).
const AF_NETLINK = 16;
const SOCK_RAW_CLOEXEC_NONBLOCK = 3 | 0o2000000 | 0o4000;
const NETLINK_SOCK_DIAG = 4;
const SOCK_DIAG_BY_FAMILY = 20;
const AF_INET = 2;
const AF_INET6 = 10;
const TCP_ESTABLISHED = 1;
/** Offsets within a request: struct nlmsghdr, then struct inet_diag_req_v2. */
const REQUEST = {
  bytes: 72,
  sequence: 8,
  family: 16,
  sourcePort: 24,
  destinationPort: 26,
  source: 28,
  destination: 44,
};
/** Offsets within a response: struct nlmsghdr, then struct inet_diag_msg. */
const ANSWER = { bytes: 88, type: 4, sequence: 8, state: 17, user: 80, inode: 84 };

/** Requests TCP sockets in any state, on any interface, with any cookie (INET_DIAG_NOCOOKIE). */
const BODY = Buffer.from(`0006${'0000'}${'ff'.repeat(4)}${'00'.repeat(40)}${'ff'.repeat(8)}`, 'hex');

/** Addresses and ports of both ends of a TCP connection, named as in node:net. */
export type TcpEnds = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

/**
 * Looks up which UID owns a TCP connection originating from this host, in the network namespace where this object was created. A call takes
 * microseconds. The netlink socket stays open until the process exits.
 */
export class SocketOwners {
  readonly #descriptor: number;
  readonly #request = encodeMessage({
    type: SOCK_DIAG_BY_FAMILY,
    flags: requestFlags.request,
    sequence: 0,
    body: BODY,
    attributes: [],
  });
  readonly #answer = Buffer.alloc(1024);
  #sequence = 0;

  constructor() {
    const libc = loadLibc();
    this.#descriptor = libc.socket(AF_NETLINK, SOCK_RAW_CLOEXEC_NONBLOCK, NETLINK_SOCK_DIAG);
    if (this.#descriptor < 0) throw syscallError('socket', 'netlink sock_diag', libc.errno());
  }

  /**
   * Returns the UID of the process at the other end of a connection; `undefined` if that end is closed or on another host, or if the kernel
   * lacks tcp_diag.
   */
  userOf(ends: TcpEnds): number | undefined {
    if (!writeEnds(this.#request, ends)) return undefined;
    this.#sequence = (this.#sequence + 1) >>> 0;
    this.#request.writeUInt32LE(this.#sequence, REQUEST.sequence);
    try {
      writeSync(this.#descriptor, this.#request); // the kernel queues the response during the write
      return userIn(this.#answer.subarray(0, readSync(this.#descriptor, this.#answer)), this.#sequence);
    } catch {
      return undefined; // the request failed, for example with ENOBUFS on a host without free memory
    }
  }
}

/** Fills in the request for the socket at the other end of the connection. Returns false if its addresses cannot be looked up. */
function writeEnds(request: Buffer, { localAddress, localPort, remoteAddress, remotePort }: TcpEnds): boolean {
  const [source, destination] = [bytesOf(remoteAddress), bytesOf(localAddress)];
  if (source === undefined || source.length !== destination?.length) return false;
  request[REQUEST.family] = source.length === 4 ? AF_INET : AF_INET6;
  request.writeUInt16BE(remotePort!, REQUEST.sourcePort);
  request.writeUInt16BE(localPort!, REQUEST.destinationPort);
  source.copy(request, REQUEST.source);
  destination.copy(request, REQUEST.destination);
  return true;
}

/** Returns an address as bytes. Dual-stack sockets report IPv4 addresses as `::ffff:192.0.2.1`. Addresses with a zone are not supported. */
function bytesOf(address: string | undefined): Buffer | undefined {
  if (address === undefined || address.includes('%')) return undefined;
  return addressBytes(address.replace(/^::ffff:(?=.*\.)/, ''));
}

/**
 * Reads the UID from a response. Only established sockets count: the kernel reports UID 0 for other states, and a listening socket is not
 * the other end of the connection.
 */
function userIn(answer: Buffer, sequence: number): number | undefined {
  if (answer.length < ANSWER.bytes || answer.readUInt16LE(ANSWER.type) !== SOCK_DIAG_BY_FAMILY) return undefined;
  if (answer.readUInt32LE(ANSWER.sequence) !== sequence || answer[ANSWER.state] !== TCP_ESTABLISHED) return undefined;
  return answer.readUInt32LE(ANSWER.inode) === 0 ? undefined : answer.readUInt32LE(ANSWER.user);
}
