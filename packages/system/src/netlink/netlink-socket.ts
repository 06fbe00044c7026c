import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { Limiter, PodwrightError } from '@podwright/base';
import koffi from 'koffi';
import { errnoErrorCode, syscallError, systemErrorText } from '../errno.ts';
import {
  type Attribute,
  decodeAttributes,
  decodeMessages,
  encodeMessage,
  type NetlinkMessage,
  u32,
} from './message.ts';

/** Netlink protocol numbers (linux/netlink.h). */
const netlinkProtocols = { route: 0, netfilter: 12 } as const;

/**
 * Request flags (linux/netlink.h). Combined with `create`, `excl` makes the request fail if the object exists, whereas `replace` replaces
 * it.
 */
export const requestFlags = {
  request: 1,
  ack: 4,
  dump: 0x300,
  replace: 0x100,
  excl: 0x200,
  create: 0x400,
  append: 0x800,
} as const;

export type NetlinkRequest = {
  /** Describes the request, at the start of error messages about it. */
  what: string;
  type: number;
  /** Request flags in addition to `request` and `ack`. */
  flags?: number;
  /** Whether the kernel responds only on failure, as to the begin and end messages of an nf_tables transaction. */
  silent?: boolean;
  /** The body that precedes the attributes: a protocol-specific header. */
  body: Buffer;
  attributes?: readonly Attribute[];
  /** Names of system errors that count as success, such as `ENOENT`. */
  ignore?: readonly string[];
};

// Constants from linux/socket.h and linux/netlink.h; see socket(2), setsockopt(2) and recv(2).
const AF_NETLINK = 16;
const SOCK_RAW_CLOEXEC = 3 | 0o2000000;
const SOL_SOCKET = 1;
const SO_SNDBUFFORCE = 32;
const SOL_NETLINK = 270;
const NETLINK_CAP_ACK = 10;
const NETLINK_EXT_ACK = 11;
const MSG_DONTWAIT = 0x40;
const MSG_TRUNC = 0x20;
// Types of control messages, and of attributes in acknowledgements (linux/netlink.h).
const NLMSG_ERROR = 2;
const NLMSG_DONE = 3;
const NLM_F_CAPPED = 0x100;
const NLMSGERR_ATTR_MSG = 1;
const HEADER_BYTES = 16;
/** struct sockaddr_nl: u16 family, u16 padding, u32 port, u32 groups. */
const ADDRESS_BYTES = 12;
/**
 * Send buffer size. An nf_tables transaction is a single datagram; this is enough for about ten thousand pods with a published port. The
 * kernel allocates the memory only when needed.
 */
const SEND_BYTES = 4 << 20;
/** Receive buffer size, larger than any datagram from the kernel (NLMSG_GOODSIZE, or 32 KiB for dumps). */
const RECEIVE_BYTES = 128 << 10;
const { EAGAIN, EINTR, ENOBUFS } = constants.errno;

/** Opens netlink sockets, binding the C library functions only once. */
export class NetlinkSockets {
  readonly #calls = bindCalls();
  /**
   * Receive buffer shared by all sockets, which is safe because responses are received and decoded synchronously. Allocating a buffer per
   * batch would cause too much garbage collection.
   */
  readonly #received = Buffer.allocUnsafeSlow(RECEIVE_BYTES);

  /** Opens a socket in the calling thread's network namespace. */
  open(protocol: keyof typeof netlinkProtocols): NetlinkSocket {
    const { socket, setsockopt } = this.#calls;
    const descriptor = socket(AF_NETLINK, SOCK_RAW_CLOEXEC, netlinkProtocols[protocol]);
    if (descriptor < 0) throw syscallError('socket', `netlink ${protocol}`, koffi.errno());
    const on = Buffer.from([1, 0, 0, 0]);
    // ignore failures: older kernels do not support these options, and errors then lack the kernel's message
    setsockopt(descriptor, SOL_NETLINK, NETLINK_CAP_ACK, on, on.length);
    setsockopt(descriptor, SOL_NETLINK, NETLINK_EXT_ACK, on, on.length);
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, u32(SEND_BYTES), 4); // the kernel doubles the number
    return new NetlinkSocket(this.#calls, descriptor, this.#received);
  }
}

/**
 * A netlink socket. It belongs to the network namespace it was opened in, even after the thread has left that namespace. Requests are sent
 * on a libuv pool thread, one batch at a time: the kernel processes them within send(2), where it might wait for locks. Dumps are also
 * received on a pool thread, because the kernel generates the next part within recv(2).
 */
export class NetlinkSocket {
  readonly #calls: Calls;
  readonly #descriptor: number;
  readonly #received: Buffer;
  readonly #turns = new Limiter(1);
  #sendBytes = SEND_BYTES;
  #sequence = Math.floor(Math.random() * 2 ** 30);
  #closed = false;

  /** For `NetlinkSockets` only, which opens the descriptor. */
  constructor(calls: Calls, descriptor: number, received: Buffer) {
    this.#calls = calls;
    this.#descriptor = descriptor;
    this.#received = received;
  }

  /**
   * Sends the requests as a batch and returns the kernel's responses to each, without acknowledgements. The kernel processes them in order
   * and continues after failures, except that an nf_tables batch is atomic. Once all requests have been processed, throws the first error
   * not listed in `ignore`; `hasErrno` checks its errno.
   */
  request(requests: readonly NetlinkRequest[]): Promise<NetlinkMessage[][]> {
    return this.#turns.run(() => this.#exchange(requests));
  }

  /** Closes the socket after the current batch. Until then, its descriptor number must not be reused for another file. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    void this.#turns.run(async () => closeSync(this.#descriptor));
  }

  async #exchange(requests: readonly NetlinkRequest[]): Promise<NetlinkMessage[][]> {
    if (this.#closed) throw new PodwrightError('failed_precondition', 'send a netlink request: the socket is closed');
    const first = this.#sequence + 1;
    this.#sequence += requests.length;
    const batch = requests.map(({ type, flags = 0, silent = false, body, attributes = [] }, index) => {
      const all = requestFlags.request | flags | (silent ? 0 : requestFlags.ack);
      return encodeMessage({ type, flags: all, sequence: first + index, body, attributes });
    });
    await this.#send(Buffer.concat(batch), requests[0]!.what);
    return this.#collect(requests, first);
  }

  async #send(datagram: Buffer, what: string): Promise<void> {
    this.#makeRoom(datagram.length);
    const address = Buffer.alloc(ADDRESS_BYTES);
    address.writeUInt16LE(AF_NETLINK);
    const send = [this.#descriptor, datagram, datagram.length, 0, address, address.length] as const;
    const sent = await new Promise<number>((resolve, reject) =>
      this.#calls.sendto.async(...send, (error: unknown, size: number) => (error ? reject(error) : resolve(size))),
    );
    if (sent >= 0) return;
    // errno was set on another thread. Nothing has been processed yet, so send the batch again from this thread: it either succeeds or sets
    // errno here.
    if (this.#calls.sendto(...send) < 0) throw netlinkError(what, koffi.errno());
  }

  /** Grows the send buffer for oversized datagrams, such as a table for ten thousand services. */
  #makeRoom(bytes: number): void {
    if (bytes <= this.#sendBytes) return;
    this.#sendBytes = bytes;
    this.#calls.setsockopt(this.#descriptor, SOL_SOCKET, SO_SNDBUFFORCE, u32(bytes), 4);
  }

  /** Receives until every request has been answered. When send(2) returns, all responses are queued except those to dumps. */
  async #collect(requests: readonly NetlinkRequest[], first: number): Promise<NetlinkMessage[][]> {
    const what = requests[0]!.what;
    const hasLists = requests.some(({ flags = 0 }) => (flags & requestFlags.dump) === requestFlags.dump);
    const buffer = hasLists ? Buffer.allocUnsafe(RECEIVE_BYTES) : this.#received; // the shared buffer must not be used across an await
    const answers = requests.map(() => [] as NetlinkMessage[]);
    const open = new Set(requests.flatMap(({ silent }, index) => (silent ? [] : [index])));
    const errors: PodwrightError[] = [];
    while (open.size > 0) {
      const size = hasLists ? await this.#receiveLater(buffer, what) : this.#receive(buffer, what);
      if (size === undefined) break;
      for (const message of decodeMessages(buffer.subarray(0, size))) {
        const index = message.sequence - first;
        const request = requests[index];
        if (request === undefined) continue; // a late response to an earlier batch that failed
        if (message.type === NLMSG_ERROR || message.type === NLMSG_DONE) {
          open.delete(index);
          const error = errorOf(request, message);
          if (error !== undefined) errors.push(error);
          if (request.silent) open.clear();
        } else answers[index]!.push(Object.assign(message, { body: Buffer.from(message.body) }));
      }
    }
    if (errors[0] !== undefined) throw errors[0];
    const unanswered = [...open][0];
    if (unanswered === undefined) return answers;
    throw new PodwrightError('unavailable', `${requests[unanswered]!.what}: the kernel did not answer`);
  }

  /** Receives the next datagram from the kernel and returns its size; `undefined` if none is queued. */
  #receive(buffer: Buffer, what: string): number | undefined {
    for (;;) {
      const { call, isFromKernel } = this.#receiving(buffer);
      const size = this.#calls.recvfrom(...call);
      if (size < 0) {
        const errno = koffi.errno();
        if (errno === EAGAIN) return undefined;
        if (errno === EINTR) continue;
        throw receiveError(what, errno);
      }
      if (isFromKernel()) return checkedSize(size, what);
    }
  }

  /** Like `#receive`, but on a libuv pool thread, whose errno cannot be read here: all failures are treated as lost responses (ENOBUFS). */
  async #receiveLater(buffer: Buffer, what: string): Promise<number | undefined> {
    for (;;) {
      const { call, isFromKernel } = this.#receiving(buffer);
      const size = await new Promise<number>((resolve, reject) =>
        this.#calls.recvfrom.async(...call, (error: unknown, read: number) => (error ? reject(error) : resolve(read))),
      );
      if (size < 0) throw receiveError(what, ENOBUFS);
      if (isFromKernel()) return checkedSize(size, what);
    }
  }

  /**
   * Returns the arguments for recvfrom(2), and a check that the datagram came from the kernel: in a pod's network namespace, processes of
   * the pod can also send to this socket.
   */
  #receiving(buffer: Buffer) {
    const address = Buffer.alloc(ADDRESS_BYTES);
    const addressLength = Buffer.from([ADDRESS_BYTES, 0, 0, 0]);
    const flags = MSG_DONTWAIT | MSG_TRUNC;
    const call = [this.#descriptor, buffer, buffer.length, flags, address, addressLength] as const;
    return { call, isFromKernel: () => address.readUInt32LE(4) === 0 };
  }
}

function checkedSize(size: number, what: string): number {
  if (size <= RECEIVE_BYTES) return size;
  throw new PodwrightError('internal', `${what}: an answer of ${size} bytes`);
}

/**
 * Creates the error for a failed receive. ENOBUFS means that responses were lost: the requests have been processed, and the caller must
 * look up the outcome.
 */
function receiveError(what: string, errno: number): PodwrightError {
  return netlinkError(errno === ENOBUFS ? `${what}: more answers than the socket holds` : what, errno);
}

/**
 * Decodes struct nlmsgerr: a negative errno, the request's header (the whole request from old kernels), then attributes. The final message
 * of an incomplete dump also carries an errno.
 */
function errorOf(request: NetlinkRequest, { body, flags }: NetlinkMessage): PodwrightError | undefined {
  const errno = body.length < 4 ? 0 : -body.readInt32LE(0);
  if (errno === 0) return undefined;
  const detail = (flags & NLM_F_CAPPED) === 0 ? undefined : kernelMessage(body.subarray(4 + HEADER_BYTES));
  const error = netlinkError(request.what, errno, detail);
  return request.ignore?.includes((error.cause as NodeJS.ErrnoException).code ?? '') ? undefined : error;
}

function kernelMessage(attributes: Buffer): string | undefined {
  return decodeAttributes(attributes).get(NLMSGERR_ATTR_MSG)?.toString('utf8').replace(/\0+$/, '');
}

function netlinkError(what: string, errno: number, detail?: string): PodwrightError {
  const { name, description } = systemErrorText(errno);
  const cause = Object.assign(new Error(`${what}: ${name} (${description})${detail ? `: ${detail}` : ''}`), {
    errno: -errno,
    code: name,
    syscall: 'netlink',
  });
  return new PodwrightError(errnoErrorCode(name), cause.message, { cause });
}

type Calls = ReturnType<typeof bindCalls>;

/** Binds the C library's socket functions. Main thread only: koffi is not safe in worker threads. */
function bindCalls() {
  const library = koffi.load(null);
  return {
    socket: library.func('int socket(int domain, int type, int protocol)'),
    setsockopt: library.func('int setsockopt(int fd, int level, int name, void *value, uint32_t size)'),
    sendto: library.func('long sendto(int fd, void *data, size_t size, int flags, void *address, uint32_t length)'),
    recvfrom: library.func('long recvfrom(int fd, void *buffer, size_t size, int flags, void *address, void *length)'),
  };
}
