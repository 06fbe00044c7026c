import type { OutgoingHttpHeaders } from 'node:http';
import { ApiError, internalError } from '@podwright/api-machinery';
import type { Schema } from '@podwright/kube-schema';
import { discardBody, hasUnreadBody } from './discard-body.ts';
import type { OutputEvent } from './encode-event.ts';
import { encodeList, encodeOne } from './encode-response.ts';
import type { SlicedBody } from './encode-slices.ts';
import { type Body, encodeValue, jsonText } from './encode-value.ts';
import { type HttpExchange, headerOf } from './http-exchange.ts';
import { acceptsGzip, negotiateStatus } from './negotiation.ts';
import type { AnyObject, ObjectPage, ResourceEncoding } from './response-content.ts';
import { Warnings } from './warnings.ts';
import { sendWatch, type WatchResponseOptions } from './watch-response.ts';
import { writeGzipped, writeParts, writeSlices } from './write-parts.ts';

/** Responses larger than this are compressed, as in upstream. */
const GZIP_THRESHOLD_BYTES = 128 << 10;

const NOT_MODIFIED = 304;

/** Sends the response to a request, including the warnings collected until then. */
export class ResponseWriter {
  readonly exchange: HttpExchange;
  readonly warnings: Warnings;
  readonly #schema: Schema;

  /** `warnings`: the warnings added while the request was handled before the response. */
  constructor(exchange: HttpExchange, schema: Schema, warnings = new Warnings()) {
    this.exchange = exchange;
    this.warnings = warnings;
    this.#schema = schema;
  }

  async object(status: number, object: AnyObject, encoding: ResourceEncoding): Promise<void> {
    const { bodies } = this.exchange;
    if (bodies !== undefined) bodies.response = object;
    await this.#send(status, await encodeOne(object, encoding));
  }

  async list(page: ObjectPage, encoding: ResourceEncoding): Promise<void> {
    const body = await encodeList(page, encoding);
    await ('slices' in body ? this.#sendSlices(body) : this.#send(200, body));
  }

  /** Sends watch events until the iteration ends or the client disconnects. See `sendWatch`. */
  async watch(events: AsyncIterable<readonly OutputEvent[]>, options: WatchResponseOptions): Promise<void> {
    const { exchange } = this;
    if (exchange.upgrade !== undefined) {
      // like Go's WebSocket server, reject requests without an Origin header; scripts on web pages cannot omit it
      if (headerOf(exchange.request, 'origin') === '') return this.#send(403, { contentType: '', parts: [] });
      const { sendWatchMessages } = await import('./watch-socket.ts');
      return sendWatchMessages(events, { ...options, exchange });
    }
    await sendWatch(events, { ...options, writer: this });
  }

  /** Sends text or pre-encoded bytes, such as a discovery document, with this status code. */
  async bytes(status: number, body: Body, headers?: OutgoingHttpHeaders): Promise<void> {
    await this.#send(status, body, headers);
  }

  /** Sends an object that is never converted to a table, e.g. the Status of a deletion. */
  async status(code: number, status: object, headers?: OutgoingHttpHeaders): Promise<void> {
    const { bodies } = this.exchange;
    if (bodies !== undefined) bodies.response = status;
    const format = negotiateStatus(this.exchange);
    const body = format
      ? await encodeValue({ ...status }, format, this.#schema)
      : { contentType: 'application/json', parts: [Buffer.from(jsonText(status, true))] };
    await this.#send(code, body, headers);
  }

  /** Sends an error. Errors other than `ApiError` are sent as internal errors and logged by the caller. */
  async error(error: unknown): Promise<void> {
    const { status } =
      error instanceof ApiError ? error : internalError(error instanceof Error ? error.message : String(error));
    const seconds = status.details?.retryAfterSeconds;
    await this.status(status.code, status, seconds ? { 'retry-after': String(seconds) } : {});
  }

  /** Sends the status line and headers immediately, before a stream's first event. */
  begin(status: number, headers: OutgoingHttpHeaders): void {
    const { response } = this.exchange;
    this.#addWarnings();
    response.writeHead(status, headers);
    response.flushHeaders();
  }

  async #send(status: number, { contentType, parts }: Body, headers: OutgoingHttpHeaders = {}): Promise<void> {
    const { request, response, signal, untilDurable } = this.exchange;
    if (response.headersSent) return;
    await untilDurable?.();
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    const isGzipped = bytes > GZIP_THRESHOLD_BYTES && acceptsGzip(this.exchange);
    this.#addWarnings();
    response.writeHead(status, {
      ...(contentType !== '' && { 'content-type': contentType }),
      ...(status !== NOT_MODIFIED && !isGzipped && { 'content-length': String(bytes) }),
      ...(request.httpVersionMajor === 1 && hasUnreadBody(request) && { connection: 'close' }),
      ...headers,
      ...(isGzipped && { 'content-encoding': 'gzip', vary: varyOf(headers) }),
    });
    const write = isGzipped ? writeGzipped : writeParts;
    if (request.method !== 'HEAD' && !(await write(response, parts, signal))) return void response.destroy();
    await discardBody(this.exchange);
    response.end();
  }

  /** Sends a long list while it is being encoded, and therefore without Content-Length. Compresses it if the client accepts gzip. */
  async #sendSlices({ contentType, slices }: SlicedBody): Promise<void> {
    const { request, response, signal, untilDurable } = this.exchange;
    if (response.headersSent) return;
    await untilDurable?.();
    const isGzipped = acceptsGzip(this.exchange);
    this.#addWarnings();
    response.writeHead(200, {
      'content-type': contentType,
      ...(request.httpVersionMajor === 1 && hasUnreadBody(request) && { connection: 'close' }),
      ...(isGzipped && { 'content-encoding': 'gzip', vary: varyOf({}) }),
    });
    const write = isGzipped ? writeGzipped : writeSlices;
    if (request.method !== 'HEAD' && !(await write(response, slices, signal))) return void response.destroy();
    await discardBody(this.exchange);
    response.end();
  }

  #addWarnings(): void {
    const warnings = this.warnings.headers();
    if (warnings.length > 0) this.exchange.response.setHeader('warning', warnings);
  }
}

const varyOf = ({ vary }: OutgoingHttpHeaders): string =>
  vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`;
