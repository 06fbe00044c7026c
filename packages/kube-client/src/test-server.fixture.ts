import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type TestRequest = {
  method: string;
  url: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  httpVersion: string;
};
/** The response type for both protocols: HTTP/2 responses have the same methods. */
export type TestResponse = ServerResponse;
export type Handler = (request: TestRequest, response: TestResponse) => void;

/**
 * Creates a private key and a self-signed certificate (PEM) for 127.0.0.1 and a DNS name. The certificate is also the CA that clients must
 * trust.
 */
export function makeCertificate(commonName = 'test', dnsName = 'kubernetes'): { certificate: string; key: string } {
  const directory = mkdtempSync(join(tmpdir(), 'kube-client-'));
  try {
    const [key, certificate] = [join(directory, 'k'), join(directory, 'c')];
    const subject = ['-subj', `/CN=${commonName}`, '-addext', `subjectAltName=IP:127.0.0.1,DNS:${dnsName}`];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
    execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', certificate], {
      stdio: 'pipe',
    });
    return { certificate: readFileSync(certificate, 'utf8'), key: readFileSync(key, 'utf8') };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

export const JSON_TYPE = { 'content-type': 'application/json' };

/** Responds with an object as JSON. */
// biome-ignore lint/complexity/useMaxParams: in the order of an HTTP response
export function answer(
  response: TestResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { ...JSON_TYPE, ...headers });
  response.end(JSON.stringify(body));
}

/** A server for HTTP/2 with TLS, HTTP/1.1 with TLS, or plain HTTP. Tests may replace `handle`. */
export class TestServer {
  readonly requests: TestRequest[] = [];
  readonly sockets = new Set<Socket>();
  handle: Handler;
  readonly certificate: { certificate: string; key: string } | undefined;
  readonly server: Http2SecureServer | ReturnType<typeof createServer>;
  #connections = 0;

  private constructor(kind: 'h2' | 'https' | 'http', handle: Handler, options: object) {
    this.handle = handle;
    this.certificate = kind === 'http' ? undefined : makeCertificate();
    const tls = { cert: this.certificate?.certificate, key: this.certificate?.key, ...options };
    const take = (request: Http2ServerRequest | IncomingMessage, response: Http2ServerResponse | ServerResponse) =>
      this.#take(request, response as ServerResponse);
    this.server =
      kind === 'h2'
        ? createSecureServer(tls, take)
        : kind === 'https'
          ? (createTlsServer(tls, take) as unknown as ReturnType<typeof createServer>)
          : createServer(take);
    this.server.on(kind === 'http' ? 'connection' : 'secureConnection', (socket: Socket) => {
      this.#connections++;
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.sockets.delete(socket));
    });
    this.server.on('sessionError', () => undefined);
  }

  static async start(kind: 'h2' | 'https' | 'http', handle: Handler, options: object = {}): Promise<TestServer> {
    const server = new TestServer(kind, handle, options);
    await new Promise<void>((resolve) => server.server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.certificate === undefined ? 'http' : 'https'}://127.0.0.1:${this.port}`;
  }

  get tls(): { ca?: string } {
    return this.certificate === undefined ? {} : { ca: this.certificate.certificate };
  }

  /** Number of connections that the server has accepted so far. */
  get connections(): number {
    return this.#connections;
  }

  /** Destroys all connections to the server. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.cut();
    await closed;
  }

  #take(request: Http2ServerRequest | IncomingMessage, response: TestResponse): void {
    response.on('error', () => undefined);
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers, httpVersion } = request;
      const taken = { method, url, headers, httpVersion, body: Buffer.concat(chunks).toString() };
      this.requests.push(taken);
      this.handle(taken, response);
    });
  }
}

/** Waits up to 30 s until the condition is true. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('the condition was not met within 30 s');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
