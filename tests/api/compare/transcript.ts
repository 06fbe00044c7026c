/** A client that records its exchanges with one server. */
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import type { Json } from './json.ts';

export type Exchange = {
  request: { method: string; path: string; headers?: Record<string, string | string[]>; body?: Json };
  status: number;
  headers: Record<string, string>;
  body: Json;
};

export type SendOptions = {
  type?: string;
  headers?: Record<string, string>;
  /** Whether to leave this exchange out of the comparison. */
  quiet?: boolean;
};

const PATIENCE_MS = 30_000;
const AT_ONCE = 8;

/** An HTTP/2 connection to a server, authenticated as the admin user of a kubeconfig. */
export class Connection {
  readonly #session: ClientHttp2Session;

  constructor(kubeconfig: string) {
    const text = (name: string) => new RegExp(`${name}"?: *"?([^\\s",]+)`).exec(kubeconfig)?.[1] ?? '';
    const decoded = (name: string) => Buffer.from(text(name), 'base64').toString();
    this.#session = connect(text('server'), {
      ca: decoded('certificate-authority-data'),
      cert: decoded('client-certificate-data'),
      key: decoded('client-key-data'),
    });
    this.#session.on('error', () => undefined);
  }

  async call({ method, path, headers, body }: Exchange['request']): Promise<Omit<Exchange, 'request'>> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const stream = this.#session.request(
      { ':method': method, ':path': path, ...headers },
      { endStream: text === undefined },
    );
    stream.setTimeout(PATIENCE_MS, () => stream.destroy(new Error(`${method} ${path} was not answered`)));
    if (text !== undefined) stream.end(text);
    const [received] = (await once(stream, 'response')) as [Record<string, string>];
    const answer = Buffer.concat(await stream.toArray()).toString();
    const isJson = received['content-type']?.startsWith('application/json') ?? false;
    return { status: Number(received[':status']), headers: received, body: isJson ? parsed(answer) : answer };
  }

  close(): void {
    this.#session.destroy();
  }
}

/** Parses a response body: a JSON value, or the events of a watch as a list. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line));
  }
}

export class Transcript {
  readonly exchanges: Exchange[] = [];
  /** Errors in the case itself, such as a response that lacks an expected field. */
  readonly failures: string[] = [];
  readonly #client: Connection;
  readonly #headers: Record<string, string | string[]>;

  constructor(client: Connection, headers: Record<string, string | string[]> = {}) {
    this.#client = client;
    this.#headers = headers;
  }

  /** Returns a client that impersonates another user and appends its exchanges to this transcript. */
  as(user: string, ...groups: string[]): Transcript {
    const headers = { 'impersonate-user': user, ...(groups.length > 0 && { 'impersonate-group': groups }) };
    const other = new Transcript(this.#client, headers);
    Object.assign(other, { exchanges: this.exchanges });
    return other;
  }

  async send(method: string, path: string, body?: Json, options: SendOptions = {}): Promise<Exchange> {
    const { type = body === undefined ? undefined : 'application/json', quiet = false } = options;
    const contentType: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    const headers = { accept: 'application/json', ...contentType, ...this.#headers, ...options.headers };
    const request = { method, path, headers, body };
    const exchange = { request, ...(await this.#client.call(request)) };
    if (!quiet) this.exchanges.push(exchange);
    return exchange;
  }

  /** Sends independent requests, several at a time. Records them in the given order. */
  async sendAll(requests: readonly { method: string; path: string; body: Json }[]): Promise<void> {
    for (let start = 0; start < requests.length; start += AT_ONCE) {
      const batch = requests.slice(start, start + AT_ONCE);
      const quiet = { quiet: true };
      const answers = batch.map(({ method, path, body }) => this.send(method, path, body, quiet));
      this.exchanges.push(...(await Promise.all(answers)));
    }
  }

  get(path: string, headers?: Record<string, string>): Promise<Exchange> {
    return this.send('GET', path, undefined, { headers });
  }

  post(path: string, body: Json): Promise<Exchange> {
    return this.send('POST', path, body);
  }

  put(path: string, body: Json): Promise<Exchange> {
    return this.send('PUT', path, body);
  }

  delete(path: string, body?: Json): Promise<Exchange> {
    return this.send('DELETE', path, body);
  }

  patch(path: string, kind: 'json' | 'merge' | 'strategic-merge' | 'apply', body: Json): Promise<Exchange> {
    const type = kind === 'apply' ? 'application/apply-patch+yaml' : `application/${kind}-patch+json`;
    return this.send('PATCH', path, typeof body === 'string' ? body : JSON.stringify(body), { type });
  }
}
