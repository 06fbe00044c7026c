import { connect } from 'node:net';
import { PodwrightError } from '@podwright/base';

export type HttpRequest = {
  method: string;
  /** Path and query, percent-encoded. */
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** Aborts the request, even while the response body is being read. */
  signal?: AbortSignal;
};

/** A response whose header has arrived. Its body is streamed and can be read only once. */
export type HttpResponse = AsyncIterable<Buffer> & {
  statusCode: number;
  /** Closes the connection without reading the rest of the body. */
  destroy(): void;
};

/** Maximum length of a header line. All headers of a response usually total a few hundred bytes. */
const MAX_LINE_LENGTH = 16 << 10;
const MAX_HEAD_LINES = 100;

/**
 * Sends a single request over a new connection to a Unix socket (RFC 9112). Used instead of `node:http`, which would add 5 ms to every
 * command for loading it and for its first request. Unlike `readAnswer` in base, it streams the body. Rejects with the system error, with
 * `ECONNRESET` if the connection ends early (like node:http), with `internal` if the response is not HTTP, or with the signal's reason.
 */
export async function exchange(socketPath: string, request: HttpRequest): Promise<HttpResponse> {
  const head = headOf(request);
  const socket = connect({ path: socketPath, signal: request.signal });
  socket.on('error', () => undefined); // a read from the socket throws the error
  const reader = new ByteReader(socket[Symbol.asyncIterator]());
  try {
    socket.write(head + (request.body ?? ''));
    const { statusCode, headers } = await readHead(reader);
    const destroy = () => void socket.destroy();
    return { statusCode, destroy, [Symbol.asyncIterator]: () => bodyOf(reader, { headers, destroy }) };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function headOf({ method, path, headers, body }: HttpRequest): string {
  const length = body === undefined && method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body ?? '') };
  const fields = Object.entries({ host: 'localhost', connection: 'close', ...length, ...headers });
  const lines = [`${method} ${path} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`)];
  const wrong = lines.find((line) => /[^\x20-\x7e]/.test(line)) ?? (path.includes(' ') ? path : undefined);
  if (wrong === undefined) return `${lines.join('\r\n')}\r\n\r\n`;
  throw new PodwrightError('invalid_argument', `call the node: ${JSON.stringify(wrong)} cannot be sent`);
}

type Head = { statusCode: number; headers: Map<string, string> };

async function readHead(reader: ByteReader): Promise<Head> {
  const first = await reader.line();
  const statusCode = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(first)?.[1]);
  if (Number.isNaN(statusCode)) throw notHttp(first);
  const headers = new Map<string, string>();
  for (let lines = 0; lines < MAX_HEAD_LINES; lines++) {
    const line = await reader.line();
    if (line === '') return { statusCode, headers };
    const [, name, value] = /^([^\s:]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw notHttp(line);
    headers.set(name.toLowerCase(), value);
  }
  throw new PodwrightError('internal', `read the node's answer: its head has more than ${MAX_HEAD_LINES} lines`);
}

type Body = { headers: Head['headers']; destroy: () => void };

async function* bodyOf(reader: ByteReader, { headers, destroy }: Body): AsyncGenerator<Buffer> {
  const length = headers.get('content-length');
  try {
    if (headers.get('transfer-encoding')?.toLowerCase() === 'chunked') yield* chunksOf(reader);
    else if (length !== undefined) yield* reader.bytes(sizeOf(length, /^(\d{1,15})$/, 10));
    else for (let part = await reader.some(); part !== undefined; part = await reader.some()) yield part;
  } finally {
    destroy();
  }
}

async function* chunksOf(reader: ByteReader): AsyncGenerator<Buffer> {
  for (;;) {
    const sizeBytes = sizeOf(await reader.line(), /^([\da-f]{1,12})\s*(?:;.*)?$/i, 16);
    if (sizeBytes === 0) return;
    yield* reader.bytes(sizeBytes);
    const end = await reader.line();
    if (end !== '') throw notHttp(end);
  }
}

function sizeOf(text: string, pattern: RegExp, radix: number): number {
  const [, digits] = pattern.exec(text) ?? [];
  if (digits === undefined) throw notHttp(text);
  return Number.parseInt(digits, radix);
}

function notHttp(line: string): PodwrightError {
  return new PodwrightError('internal', `read the node's answer: ${JSON.stringify(line.slice(0, 100))} is not HTTP`);
}

class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterator<Buffer>) {
    this.#chunks = chunks;
  }

  /** Returns the next available bytes, at most `most` of them; waits if there are none. Returns `undefined` at the end of the stream. */
  async some(most = Number.POSITIVE_INFINITY): Promise<Buffer | undefined> {
    if (this.#rest.length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done) return undefined;
      this.#rest = value;
    }
    const part = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }

  /** Yields exactly `count` bytes; throws if the connection ends first. */
  async *bytes(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      const part = (await this.some(left)) ?? refuseEnd();
      left -= part.length;
      yield part;
    }
  }

  async line(): Promise<string> {
    let line = '';
    for (;;) {
      const part = (await this.some()) ?? refuseEnd();
      const end = part.indexOf('\n');
      line += part.toString('latin1', 0, end === -1 ? part.length : end);
      if (line.length > MAX_LINE_LENGTH) throw notHttp(line);
      if (end === -1) continue;
      this.#rest = part.subarray(end + 1);
      return line.endsWith('\r') ? line.slice(0, -1) : line;
    }
  }
}

function refuseEnd(): never {
  throw Object.assign(new Error('the node closed the connection'), { code: 'ECONNRESET' });
}
