import type { Server } from 'node:net';
import koffi from 'koffi';
import { loadLibc } from './libc.ts';
import { addressText } from './netlink/ip-address.ts';
import type { TcpEnds } from './netlink/socket-owner.ts';

// Constants from linux/socket.h, asm-generic/fcntl.h and asm-generic/socket.h; see socket(2), accept(2) and socket(7).
const AF_INET = 2;
const ACCEPTED_CLOEXEC_NONBLOCK = 0o2000000 | 0o4000;
const SOL_SOCKET = 1;
const SO_LINGER = 13;
/** struct linger, enabled with 0 seconds: makes close(2) reset the connection and the kernel drop all its state. */
const RESET = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
/** Size of struct sockaddr_in6, the larger of the two address structures. */
const SOCKET_ADDRESS_BYTES = 28;
/** Maximum number of resets per event loop turn. At about 20 µs each on an idle host, accepted connections wait at most 5 ms. */
const MAX_RESETS_PER_TURN = 250;

/** The private handle of a node:net server (`TCPWrap` in Node.js). These members are not available through a public API. */
type Handle = {
  fd: number;
  constructor: new (type: number) => Handle;
  onconnection: (error: number, client?: Handle) => void;
  open: (descriptor: number) => number;
  reset: (onClosed: () => void) => void;
  getpeername: (end: End) => void;
  getsockname: (end: End) => void;
};
type End = { address?: string; port?: number };
const SOCKET_HANDLE = 0;

/**
 * Resets connections to a listening server that `allows` rejects, before Node.js creates sockets for them. Node.js accepts only one
 * connection per event loop turn, so a flood of rejected connections could fill the kernel's accept queue. To prevent that, each reset also
 * accepts the connections queued behind it.
 */
export function filterConnections(server: Server, allows: (ends: TcpEnds) => boolean): void {
  const { _handle: handle } = server as unknown as { _handle: Handle };
  const waiting = new AcceptQueue(handle.fd);
  const accept = handle.onconnection;
  handle.onconnection = (error, client) => {
    if (client === undefined || allows(endsOf(client))) return accept.call(handle, error, client);
    client.reset(() => undefined);
    for (let count = 0; count < MAX_RESETS_PER_TURN; count++) {
      const next = waiting.accept();
      if (next === undefined) return;
      if (!allows(next.ends)) waiting.reset(next.descriptor);
      else {
        const allowed = new handle.constructor(SOCKET_HANDLE);
        allowed.open(next.descriptor);
        accept.call(handle, 0, allowed);
      }
    }
  };
}

function endsOf(client: Handle): TcpEnds {
  const [own, peer]: [End, End] = [{}, {}];
  client.getsockname(own);
  client.getpeername(peer);
  return { localAddress: own.address, localPort: own.port, remoteAddress: peer.address, remotePort: peer.port };
}

class AcceptQueue {
  readonly #libc = loadLibc();
  readonly #accept4 = koffi.load(null).func('int accept4(int fd, void *address, void *length, int flags)');
  readonly #getsockname = koffi.load(null).func('int getsockname(int fd, void *address, void *length)');
  readonly #listening: number;
  readonly #address = Buffer.alloc(SOCKET_ADDRESS_BYTES);
  readonly #length = Buffer.alloc(4);

  constructor(listening: number) {
    this.#listening = listening;
  }

  /** Accepts the next connection; `undefined` if the queue is empty. */
  accept(): { descriptor: number; ends: TcpEnds } | undefined {
    const descriptor = this.#accept4(this.#listening, this.#address, this.#lengthOf(), ACCEPTED_CLOEXEC_NONBLOCK);
    if (descriptor < 0) return undefined;
    const peer = endIn(this.#address);
    this.#getsockname(descriptor, this.#address, this.#lengthOf());
    const own = endIn(this.#address);
    const ends = { localAddress: own.address, localPort: own.port, remoteAddress: peer.address, remotePort: peer.port };
    return { descriptor, ends };
  }

  reset(descriptor: number): void {
    this.#libc.setsockopt(descriptor, SOL_SOCKET, SO_LINGER, RESET, RESET.length);
    this.#libc.close(descriptor);
  }

  #lengthOf(): Buffer {
    this.#length.writeUInt32LE(SOCKET_ADDRESS_BYTES);
    return this.#length;
  }
}

/** Decodes a struct sockaddr_in or sockaddr_in6. */
function endIn(address: Buffer): End {
  const port = address.readUInt16BE(2);
  if (address.readUInt16LE(0) !== AF_INET) return { address: addressText(address.subarray(8, 24)), port };
  return { address: `${address[4]}.${address[5]}.${address[6]}.${address[7]}`, port };
}
