import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, dirname } from 'node:path';
import koffi from 'koffi';
import { syscallError } from './errno.ts';

// Constants from linux/socket.h, linux/net.h and asm-generic/fcntl.h; see socket(2), shutdown(2), send(2) and fcntl(2).
const AF_UNIX = 1;
const SOCK_SEQPACKET_CLOEXEC_NONBLOCK = 5 | 0o2000000 | 0o4000;
const SHUT_WR = 1;
const MSG_NOSIGNAL = 0x4000;
const F_SETFL = 4;
const F_SETOWN = 8;
const O_NONBLOCK = 0o4000;
const O_ASYNC = 0o20000;
/** struct sockaddr_un (linux/un.h): u16 sun_family, then UNIX_PATH_MAX bytes of path. */
const SUN_PATH_BYTES = 108;
const { EAGAIN, EPIPE, ECONNRESET, ENOTCONN } = constants.errno;

/**
 * SOCK_SEQPACKET sockets with a path, which node:net does not support. The kernel sends SIGIO when a socket might have become readable or
 * writable, and libuv delivers the signal to the event loop: no thread has to block or poll.
 */
export class SeqpacketSockets {
  readonly #calls = bindCalls();
  readonly #open = new Set<() => void>();
  #closing = false;
  readonly #onSignal = () => {
    for (const ready of this.#open) ready();
  };

  constructor() {
    // An unhandled SIGIO terminates the process, so keep the listener from before the first socket opens until after the last one closes.
    process.on('SIGIO', this.#onSignal);
  }

  /** Connects to the socket at `path`. `onReady` is called whenever a socket might have become readable or writable. */
  connect(path: string, onReady: () => void): SeqpacketSocket {
    const calls = this.#calls;
    const descriptor = calls.socket(AF_UNIX, SOCK_SEQPACKET_CLOEXEC_NONBLOCK, 0);
    if (descriptor < 0) throw syscallError('socket', path, koffi.errno());
    try {
      connectTo(calls, descriptor, path);
      calls.fcntl(descriptor, F_SETOWN, 'int', process.pid);
      calls.fcntl(descriptor, F_SETFL, 'int', O_NONBLOCK | O_ASYNC);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    this.#open.add(onReady);
    const onClose = () => {
      this.#open.delete(onReady);
      this.#endIfDone();
    };
    return new SeqpacketSocket(calls, { descriptor, path, onClose });
  }

  /** Stops listening for SIGIO once the open sockets, which keep working, have been closed. Must be called after the last `connect`. */
  close(): void {
    this.#closing = true;
    this.#endIfDone();
  }

  /** Stops listening for SIGIO once there is no socket left that can raise it. */
  #endIfDone(): void {
    if (this.#closing && this.#open.size === 0) process.off('SIGIO', this.#onSignal);
  }
}

/** A connected, non-blocking socket. */
export class SeqpacketSocket {
  readonly #calls: Calls;
  readonly #descriptor: number;
  readonly #path: string;
  readonly #onClose: () => void;
  #closed = false;

  constructor(calls: Calls, open: { descriptor: number; path: string; onClose: () => void }) {
    this.#calls = calls;
    this.#descriptor = open.descriptor;
    this.#path = open.path;
    this.#onClose = open.onClose;
  }

  /** Receives the next packet into `buffer` and returns its size: 0 at the end of the connection, `undefined` if no packet is queued. */
  receive(buffer: Buffer): number | undefined {
    for (;;) {
      const size = this.#calls.recv(this.#descriptor, buffer, buffer.length, 0);
      if (size >= 0) return size;
      const errno = koffi.errno();
      if (errno === EAGAIN) return undefined;
      // ECONNRESET is reported once if the peer closed the connection with unread data; packets sent by the peer can still be received.
      if (errno !== ECONNRESET) throw syscallError('recv', this.#path, errno);
    }
  }

  /** Sends a packet. Returns false if the socket's buffer is full. Packets to a closed peer are dropped. */
  send(packet: Buffer): boolean {
    if (this.#calls.send(this.#descriptor, packet, packet.length, MSG_NOSIGNAL) >= 0) return true;
    const errno = koffi.errno();
    if (errno === EAGAIN) return false;
    if (errno === EPIPE || errno === ECONNRESET) return true;
    throw syscallError('send', this.#path, errno);
  }

  /** Shuts down the sending side (SHUT_WR). */
  endSending(): void {
    if (this.#calls.shutdown(this.#descriptor, SHUT_WR) >= 0) return;
    const errno = koffi.errno();
    if (errno !== ENOTCONN && errno !== EPIPE) throw syscallError('shutdown', this.#path, errno);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClose();
    closeSync(this.#descriptor);
  }
}

/** Connects through a descriptor of the socket's directory, because socket paths are limited to 107 bytes. */
function connectTo(calls: Calls, descriptor: number, path: string): void {
  const directory = openSync(dirname(path), 'r');
  try {
    const name = Buffer.from(`/proc/self/fd/${directory}/${basename(path)}`);
    const address = Buffer.alloc(2 + SUN_PATH_BYTES);
    address.writeUInt16LE(AF_UNIX, 0);
    name.copy(address, 2, 0, SUN_PATH_BYTES - 1);
    if (calls.connect(descriptor, address, address.length) < 0) throw syscallError('connect', path, koffi.errno());
  } finally {
    closeSync(directory);
  }
}

type Calls = ReturnType<typeof bindCalls>;

/** Binds the C library's socket functions. Main thread only: koffi is not safe in worker threads. */
function bindCalls() {
  const library = koffi.load(null);
  return {
    socket: library.func('int socket(int domain, int type, int protocol)'),
    connect: library.func('int connect(int fd, void *address, uint32_t length)'),
    recv: library.func('long recv(int fd, void *buffer, size_t size, int flags)'),
    send: library.func('long send(int fd, void *buffer, size_t size, int flags)'),
    shutdown: library.func('int shutdown(int fd, int how)'),
    fcntl: library.func('int fcntl(int fd, int command, ...)'),
  };
}
