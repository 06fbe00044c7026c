/** One request and its response, over HTTP/2 or HTTP/1.1, with support for the record and the faults. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { constants, gunzipSync, gzipSync } from 'node:zlib';
import type { RecordedRequest, RequestRecord } from './request-record.ts';
import { badRequest, tooLarge, unsupportedMediaType } from './status-error.ts';

export type Request = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

/** kube-apiserver's limit of bodies. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** A client with more unread data is disconnected. */
const MAX_BACKLOG_BYTES = 32 * 1024 * 1024;

const JSON_TYPES = [
  'application/json',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
];

export class HttpExchange {
  readonly request: Request;
  readonly response: Response;
  readonly url: URL;
  readonly recorded: RecordedRequest;
  /** Aborts when the connection or the response has ended. */
  readonly signal: AbortSignal;
  readonly #record: RequestRecord;
  #disturbed: 'no' | 'lost' | 'halved' = 'no';

  constructor(request: Request, response: Response, record: RequestRecord) {
    this.request = request;
    this.response = response;
    this.#record = record;
    this.url = new URL(request.url ?? '/', 'https://api');
    this.recorded = {
      method: request.method ?? '',
      path: this.url.pathname,
      query: this.url.search.slice(1),
      verb: '',
      resource: '',
      namespace: '',
      name: '',
      user: '',
      userAgent: this.header('user-agent'),
      contentType: this.header('content-type'),
      body: undefined,
      requestBytes: 0,
      status: 0,
      responseBytes: 0,
      isOver: false,
      at: performance.now(),
      httpVersion: request.httpVersion,
    };
    record.add(this.recorded);
    const over = new AbortController();
    this.signal = over.signal;
    response.on('close', () => {
      this.recorded.isOver = true;
      over.abort();
      record.changed();
    });
    response.on('error', () => undefined);
  }

  header(name: string): string {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value.join(', ') : (value ?? '');
  }

  get socket(): TLSSocket | undefined {
    const { request } = this;
    const socket = 'stream' in request ? request.stream.session?.socket : request.socket;
    return socket as TLSSocket | undefined;
  }

  /** The media type of the body, without parameters. */
  get mediaType(): string {
    return this.recorded.contentType.split(';')[0]!.trim().toLowerCase();
  }

  /** The body as sent. */
  async text(): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.request) {
      chunks.push(chunk as Buffer);
      this.recorded.requestBytes += (chunk as Buffer).length;
      if (this.recorded.requestBytes > MAX_BODY_BYTES) throw tooLarge(MAX_BODY_BYTES);
    }
    const sent = Buffer.concat(chunks);
    const plain =
      this.header('content-encoding') === 'gzip' ? gunzipSync(sent, { maxOutputLength: MAX_BODY_BYTES }) : sent;
    return plain.toString('utf8');
  }

  /** The body as JSON; undefined without one. */
  async body(): Promise<unknown> {
    const text = await this.text();
    if (text === '') return undefined;
    this.recorded.body = text;
    if (this.mediaType !== '' && !JSON_TYPES.includes(this.mediaType))
      throw unsupportedMediaType(this.mediaType, JSON_TYPES);
    if (text.includes('"__proto__"')) throw badRequest('a field may not be called __proto__');
    try {
      const body: unknown = JSON.parse(text);
      this.recorded.body = body;
      return body;
    } catch (error) {
      throw badRequest(`couldn't get version/kind; json parse error: ${(error as Error).message}`);
    }
  }

  /** Makes the response be lost, by closing the connection. */
  loseAnswer(): void {
    this.#disturbed = 'lost';
  }

  /** Makes only the first half of the response be sent. */
  halveAnswer(): void {
    this.#disturbed = 'halved';
  }

  /** Sends the complete response: text, or JSON for other values. */
  answer(status: number, body: unknown, headers: Record<string, string> = {}): void {
    if (this.response.headersSent || this.signal.aborted) return;
    if (this.#disturbed === 'lost') return this.cut();
    const isText = typeof body === 'string';
    const plain = Buffer.from(isText ? body : `${JSON.stringify(body)}\n`);
    const isZipped = plain.length > 128 * 1024 && this.header('accept-encoding').includes('gzip');
    const bytes = isZipped ? gzipSync(plain, { level: constants.Z_BEST_SPEED }) : plain;
    this.begin(status, {
      'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json',
      'content-length': String(bytes.length),
      ...(isZipped ? { 'content-encoding': 'gzip', vary: 'Accept-Encoding' } : {}),
      ...headers,
    });
    if (this.#disturbed === 'halved') {
      this.write(bytes.toString('latin1').slice(0, bytes.length / 2));
      setImmediate(() => this.cut());
      return;
    }
    this.recorded.responseBytes += bytes.length;
    if (this.recorded.method === 'HEAD') this.response.end();
    else this.response.end(bytes);
  }

  /** Sends status and headers immediately. */
  begin(status: number, headers: Record<string, string>): void {
    this.recorded.status = status;
    // Both types of responses have these two methods.
    const response = this.response as ServerResponse;
    response.writeHead(status, { 'cache-control': 'no-cache, private', ...headers });
    response.flushHeaders();
    this.#record.changed();
  }

  /** Sends a part of a started response. */
  write(text: string): void {
    const { response } = this;
    if (this.signal.aborted) return;
    this.recorded.responseBytes += Buffer.byteLength(text);
    (response as ServerResponse).write(text);
    if (response.writableLength > MAX_BACKLOG_BYTES) this.cut();
  }

  end(): void {
    if (!this.signal.aborted) this.response.end();
  }

  /** Closes the connection, with all its requests. */
  cut(): void {
    const { request } = this;
    if ('stream' in request) request.stream.session?.destroy();
    else request.socket.destroy();
  }
}
