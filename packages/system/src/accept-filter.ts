import type { Server } from 'node:net';
import koffi from 'koffi';
import { loadLibc } from './libc.ts';
import { addressText } from './netlink/ip-address.ts';
import type { TcpEnds } from './netlink/socket-owner.ts';

// socket(2), accept(2), socket(7) (linux/socket.h, asm-generic/fcntl.h, asm-generic/socket.h).
const AF_INET = 2;
const ACCEPTED_CLOEXEC_NONBLOCK = 0o2000000 | 0o4000;
const SOL_SOCKET = 1;
const SO_LINGER = 13;
/** struct linger: on, for 0 seconds. The connection is reset, and leaves nothing in the kernel. */
const RESET = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
/** struct sockaddr_in6, the longer one. */
const SOCKET_ADDRESS_BYTES = 28;
/** Some 20 µs each on an idle host: clients that were accepted before have their turn after 5 ms. */
const MAX_RESETS_PER_TURN = 250;

/** What node:net tells nowhere else (`TCPWrap` of Node.js). */
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
 * Resets the connections to a listening server that are not allowed, before Node.js has made sockets of them. A turn of the event loop
 * accepts one connection: once one is reset, those behind it are accepted here, or a flood would fill the kernel's queue.
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

/** The connections that a listening socket has for its process. */
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

  /** `undefined` if there is none. */
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

/** struct sockaddr_in or sockaddr_in6. */
function endIn(address: Buffer): End {
  const port = address.readUInt16BE(2);
  if (address.readUInt16LE(0) !== AF_INET) return { address: addressText(address.subarray(8, 24)), port };
  return { address: `${address[4]}.${address[5]}.${address[6]}.${address[7]}`, port };
}
