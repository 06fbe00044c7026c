/**
 * Run by dns-answers.ts: sends A queries for Services to a DNS server on 127.0.0.1, from several clients, and reports the answers. Calls
 * send(2), recv(2) and ppoll(2) by FFI, to leave the server more CPU time than the sockets of node:dgram would.
 */
import { constants } from 'node:os';
import koffi from 'koffi';
import { SERVICE_COUNT, serviceName } from './service-objects.ts';

/** `rate`: queries a second, or `undefined` for as many as are answered. */
export type LoadRequest = { port: number; seconds: number; rate?: number };
/** Numbers of queries and answers, and how many milliseconds the answers took: the given quantiles. */
export type LoadReport = { sent: number; answered: number; seconds: number; p50Ms: number; p99Ms: number };

/** Number of clients, each with an address of its own in 127.0.0.0/8. */
const CLIENTS = 8;
/** Number of queries without an answer, if the rate is not given: fewer than the server holds for a client. */
const OUTSTANDING = 64;
/** How long to wait for the last answers. Later ones count as lost. */
const LOST_MS = 1000;
/** How long to wait for answers at a time. */
const WAIT_NS = 200_000;

// See socket(2), bind(2), recv(2), poll(2); linux/socket.h, bits/poll.h.
const AF_INET = 2;
const SOCK_DGRAM_NONBLOCK = 2 | 0o4000;
const SOL_SOCKET = 1;
const SO_RCVBUFFORCE = 33;
const RECEIVE_BYTES = 4 << 20;
const POLLIN = 1;
const POLL_BYTES = 8;

const library = koffi.load(null);
const calls = {
  socket: library.func('int socket(int domain, int type, int protocol)'),
  setsockopt: library.func('int setsockopt(int fd, int level, int name, void *value, uint32_t size)'),
  bind: library.func('int bind(int fd, void *address, uint32_t length)'),
  connect: library.func('int connect(int fd, void *address, uint32_t length)'),
  send: library.func('long send(int fd, void *data, size_t size, int flags)'),
  recv: library.func('long recv(int fd, void *data, size_t size, int flags)'),
  ppoll: library.func('int ppoll(void *fds, unsigned long count, void *timeout, void *mask)'),
};

function check(result: number, what: string): number {
  if (result >= 0) return result;
  throw new Error(`${what}: error ${koffi.errno()}`);
}

/** Returns a struct sockaddr_in. */
function socketAddress(address: number[], port: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(AF_INET, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.set(address, 4);
  return bytes;
}

function openClient(index: number, port: number): number {
  const socket = check(calls.socket(AF_INET, SOCK_DGRAM_NONBLOCK, 0), 'socket');
  const size = Buffer.alloc(4);
  size.writeUInt32LE(RECEIVE_BYTES);
  calls.setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, size, size.length);
  check(calls.bind(socket, socketAddress([127, 0, 1, index + 1], 0), 16), 'bind');
  check(calls.connect(socket, socketAddress([127, 0, 0, 1], port), 16), 'connect');
  return socket;
}

function queryFor(index: number): Buffer {
  const labels = [serviceName(index), 'default', 'svc', 'cluster', 'local'];
  const name = labels.flatMap((label) => [label.length, ...Buffer.from(label)]);
  return Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...name, 0, 0, 1, 0, 1]);
}

class Load {
  readonly #queries = Array.from({ length: SERVICE_COUNT }, (_, index) => queryFor(index));
  readonly #sockets: number[];
  /** When each client sent the query with each ID; 0 if it has been answered. */
  readonly #sentAtMs = Array.from({ length: CLIENTS }, () => new Float64Array(1 << 16));
  readonly #polled = Buffer.alloc(CLIENTS * POLL_BYTES);
  readonly #timeout = Buffer.alloc(16);
  readonly #answer = Buffer.alloc(4096);
  readonly #latenciesMs: number[] = [];
  #sent = 0;

  constructor(port: number) {
    this.#sockets = Array.from({ length: CLIENTS }, (_, index) => openClient(index, port));
    for (const [index, socket] of this.#sockets.entries()) {
      this.#polled.writeInt32LE(socket, index * POLL_BYTES);
      this.#polled.writeInt16LE(POLLIN, index * POLL_BYTES + 4);
    }
    this.#timeout.writeBigInt64LE(BigInt(WAIT_NS), 8);
  }

  run({ seconds, rate }: Omit<LoadRequest, 'port'>): LoadReport {
    const beginMs = performance.now();
    const durationMs = seconds * 1000;
    for (let elapsedMs = 0; elapsedMs < durationMs; elapsedMs = performance.now() - beginMs) {
      const due = rate === undefined ? this.#latenciesMs.length + OUTSTANDING : (elapsedMs / 1000) * rate;
      while (this.#sent < due) this.#send();
      this.#receive();
    }
    const answeredInTime = this.#latenciesMs.length;
    const lostAtMs = performance.now() + LOST_MS;
    while (this.#latenciesMs.length < this.#sent && performance.now() < lostAtMs) this.#receive();
    const sorted = Float64Array.from(this.#latenciesMs).sort();
    const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
    const answered = rate === undefined ? answeredInTime : sorted.length;
    return { sent: this.#sent, answered, seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
  }

  #send(): void {
    const number = this.#sent++;
    const [client, id] = [number % CLIENTS, Math.floor(number / CLIENTS) & 0xffff];
    const query = this.#queries[number % SERVICE_COUNT]!;
    query.writeUInt16BE(id, 0);
    this.#sentAtMs[client]![id] = performance.now();
    check(calls.send(this.#sockets[client]!, query, query.length, 0), 'send');
  }

  /** Waits shortly for answers, and reads all that have come. */
  #receive(): void {
    if (check(calls.ppoll(this.#polled, CLIENTS, this.#timeout, null), 'ppoll') === 0) return;
    for (const [client, socket] of this.#sockets.entries()) {
      if (this.#polled.readInt16LE(client * POLL_BYTES + 6) === 0) continue;
      while (this.#receiveOne(client, socket));
    }
  }

  /** Reads an answer. Returns false if there is none. */
  #receiveOne(client: number, socket: number): boolean {
    const answer = this.#answer;
    const size = calls.recv(socket, answer, answer.length, 0);
    if (size < 0 && koffi.errno() === constants.errno.EAGAIN) return false;
    check(size, 'recv');
    const [id, flags, answers] = [answer.readUInt16BE(0), answer.readUInt16BE(2), answer.readUInt16BE(6)];
    if ((flags & 0x800f) !== 0x8000 || answers === 0) throw new Error('the server did not find a Service');
    const sentAtMs = this.#sentAtMs[client]!;
    if (sentAtMs[id] !== 0) this.#latenciesMs.push(performance.now() - sentAtMs[id]!);
    sentAtMs[id] = 0;
    return true;
  }
}

process.on('message', ({ port, ...run }: LoadRequest) => process.send!(new Load(port).run(run)));
process.on('disconnect', () => process.exit());
