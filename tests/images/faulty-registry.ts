import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { sha256Digest } from '../../packages/images/src/content/digest.ts';

export type SeenRequest = { method: string; path: string; query: URLSearchParams; headers: IncomingMessage['headers'] };

/** Handles a request before the registry does; returns true if it has responded. */
export type Fault = (request: SeenRequest, response: ServerResponse) => boolean;

type ServerTls = { cert: Buffer; key: Buffer };

type Manifest = { data: Buffer; mediaType: string };

/**
 * An in-process, pull-only registry (distribution-spec) with fault injection. Records all requests in `requests`, and serves its content
 * under any repository name.
 */
export class FaultyRegistry implements AsyncDisposable {
  readonly requests: SeenRequest[] = [];
  readonly blobs = new Map<string, Buffer>();
  readonly manifests = new Map<string, Manifest>();
  /** Fault handlers, called in order for each request until one responds to it. */
  faults: Fault[] = [];
  blobBytesSent = 0;
  readonly #server: Server;

  private constructor(tls: ServerTls | undefined) {
    const answer = (request: IncomingMessage, response: ServerResponse) => this.#answer(request, response);
    this.#server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  }

  /** Serves HTTPS if `tls` is given (PEM). */
  static async start(address = '127.0.0.1', tls?: ServerTls): Promise<FaultyRegistry> {
    const registry = new FaultyRegistry(tls);
    await new Promise<void>((resolve) => registry.#server.listen(0, address, resolve));
    return registry;
  }

  /** Domain of references to this registry: `127.0.0.1:port` or `[::1]:port`. */
  get host(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `${address.includes(':') ? `[${address}]` : address}:${port}`;
  }

  addBlob(data: Buffer): { digest: string; size: number } {
    const digest = sha256Digest(data);
    this.blobs.set(digest, data);
    return { digest, size: data.length };
  }

  /** Makes the registry serve a manifest by digest and by tag. */
  addManifest(tag: string, value: object, mediaType: string): { digest: string; size: number; mediaType: string } {
    const data = Buffer.from(JSON.stringify(value));
    const digest = sha256Digest(data);
    for (const key of [tag, digest]) this.manifests.set(key, { data, mediaType });
    return { digest, size: data.length, mediaType };
  }

  /** Returns the requests for `manifests` or `blobs`. */
  requestsFor(kind: string): SeenRequest[] {
    return this.requests.filter(({ path }) => path.includes(`/${kind}/`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(incoming: IncomingMessage, response: ServerResponse): void {
    const url = new URL(incoming.url ?? '/', 'http://registry');
    const { method = 'GET', headers } = incoming;
    const request = { method, path: url.pathname, query: url.searchParams, headers };
    this.requests.push(request);
    if (this.faults.some((fault) => fault(request, response))) return;
    const [, kind, key = ''] = /\/(manifests|blobs)\/([^/]+)$/.exec(url.pathname) ?? [];
    const manifest = this.manifests.get(key);
    const blob = this.blobs.get(key);
    if (kind === 'manifests' && manifest !== undefined) sendManifest(request, response, manifest);
    else if (kind === 'blobs' && blob !== undefined) this.#sendBlob(request, response, blob);
    else sendError(response, { status: 404, code: 'NAME_UNKNOWN', message: 'repository name not known to registry' });
  }

  #sendBlob({ headers }: SeenRequest, response: ServerResponse, blob: Buffer): void {
    const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    const rest = blob.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': rest.length,
      ...(start > 0 ? { 'content-range': `bytes ${start}-${blob.length - 1}/${blob.length}` } : {}),
    });
    this.blobBytesSent += rest.length;
    response.end(rest);
  }
}

export function sendError(
  response: ServerResponse,
  {
    status,
    code,
    message,
    headers = {},
  }: { status: number; code: string; message: string; headers?: Record<string, string> },
): true {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ errors: [{ code, message }] }));
  return true;
}

/** For the first `times` requests for the blob, sends only `bytes` bytes and then drops the connection. */
export function cutBlob(blob: Buffer, { bytes, times }: { bytes: number; times: number }): Fault {
  const digest = sha256Digest(blob);
  let left = times;
  return ({ path, headers }, response) => {
    if (!path.endsWith(`/blobs/${digest}`) || left-- <= 0) return false;
    const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': blob.length - start,
      ...(start > 0 ? { 'content-range': `bytes ${start}-${blob.length - 1}/${blob.length}` } : {}),
    });
    response.write(blob.subarray(start, start + bytes), () => response.destroy());
    return true;
  };
}

function sendManifest(request: SeenRequest, response: ServerResponse, { data, mediaType }: Manifest): void {
  response.writeHead(200, {
    'content-type': mediaType,
    'content-length': data.length,
    'docker-content-digest': sha256Digest(data),
  });
  response.end(request.method === 'HEAD' ? undefined : data);
}
