/** A minimal API server client on a single HTTP/2 connection, for testing the server itself. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import type { Credential, Endpoint } from './credential.ts';

export type Answer = {
  status: number;
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every kind
  body: any;
};

export type CallOptions = { body?: unknown; type?: string; headers?: Record<string, string> };

// biome-ignore lint/suspicious/noExplicitAny: tests read objects of every kind
export type RawEvent = { type: string; object: any };

const PATCH_TYPES = { strategic: 'strategic-merge-patch', merge: 'merge-patch', json: 'json-patch' } as const;

export class RawClient {
  readonly #session: ClientHttp2Session;
  readonly #headers: Record<string, string>;

  constructor({ url, certificateAuthority }: Endpoint, credential?: Credential) {
    const identity =
      credential?.kind === 'certificate' ? { cert: credential.certificate, key: credential.key } : undefined;
    this.#session = connect(url, { ca: certificateAuthority, ...identity });
    this.#session.on('error', () => undefined);
    this.#headers = credential?.kind === 'token' ? { authorization: `Bearer ${credential.token}` } : {};
  }

  async call(method: string, path: string, { body, type, headers }: CallOptions = {}): Promise<Answer> {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const asked = {
      ':method': method,
      ':path': path,
      accept: 'application/json',
      ...(text === undefined ? {} : { 'content-type': type ?? 'application/json' }),
      ...this.#headers,
      ...headers,
    };
    const stream = this.#session.request(asked, { endStream: text === undefined });
    if (text !== undefined) stream.end(text);
    const { status, headers: received } = await answerOf(stream);
    stream.setEncoding('utf8');
    let answer = '';
    for await (const chunk of stream) answer += chunk;
    const isJson = received['content-type']?.startsWith('application/json');
    return { status, headers: received, text: answer, body: isJson ? JSON.parse(answer) : undefined };
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  create(path: string, body: unknown): Promise<Answer> {
    return this.call('POST', path, { body });
  }

  update(path: string, body: unknown): Promise<Answer> {
    return this.call('PUT', path, { body });
  }

  patch(path: string, kind: keyof typeof PATCH_TYPES, body: unknown): Promise<Answer> {
    return this.call('PATCH', path, { body, type: `application/${PATCH_TYPES[kind]}+json` });
  }

  delete(path: string, body?: unknown): Promise<Answer> {
    return this.call('DELETE', path, { body });
  }

  /** Opens a watch; resolves once its headers arrive. */
  async watch(path: string): Promise<RawWatch> {
    const stream = this.#session.request({ ':method': 'GET', ':path': path, ...this.#headers });
    const { status } = await answerOf(stream);
    return new RawWatch(stream, status);
  }

  close(): void {
    this.#session.destroy();
  }
}

export class RawWatch implements AsyncDisposable {
  readonly status: number;
  readonly #stream: ClientHttp2Stream;
  readonly #events: RawEvent[] = [];
  #rest = '';
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(stream: ClientHttp2Stream, status: number) {
    this.status = status;
    this.#stream = stream;
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => this.#read(text));
    stream.on('error', () => undefined);
    stream.on('close', () => {
      this.#isOver = true;
      this.#wake();
    });
  }

  /** The last, incomplete line received on the watch so far. */
  get rest(): string {
    return this.#rest;
  }

  /** Returns the next event; undefined if the stream has ended. */
  async next(timeoutMs = 30_000): Promise<RawEvent | undefined> {
    const end = performance.now() + timeoutMs;
    while (this.#events.length === 0 && !this.#isOver) {
      const left = end - performance.now();
      if (left <= 0) throw new Error(`no event within ${timeoutMs} ms`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.#events.shift();
  }

  /** Returns the next `count` events as `TYPE name`; bookmarks have no name. */
  async names(count: number): Promise<string[]> {
    const names: string[] = [];
    while (names.length < count) {
      const event = await this.next();
      names.push(event === undefined ? 'END' : [event.type, event.object.metadata?.name].filter(Boolean).join(' '));
      if (event === undefined) break;
    }
    return names;
  }

  pause(): void {
    this.#stream.pause();
  }

  close(): void {
    this.#stream.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) this.#events.push(JSON.parse(line) as RawEvent);
    this.#wake();
  }
}

function answerOf(stream: ClientHttp2Stream): Promise<{ status: number; headers: Record<string, string> }> {
  return new Promise((resolve, reject) => {
    stream.once('response', (headers) => {
      const plain = Object.entries(headers).map(([name, value]) => [name, String(value)]);
      resolve({ status: Number(headers[':status']), headers: Object.fromEntries(plain) });
    });
    stream.once('error', reject);
    stream.once('close', () => reject(new Error('the connection ended before a response')));
  });
}
