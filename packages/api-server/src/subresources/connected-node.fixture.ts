/** A test server with pods on a node whose kubelet is provided by the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { request as plainRequest } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { ObjectStore } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import type { NodeConnector } from '../backends/node-connector.ts';
import { TlsNodeConnector } from '../backends/tls-node-connector.ts';
import { CertificateAuthority } from '../certificates/certificate-authority.ts';
import { TestServer, type TestServerOptions } from '../server/test-server.fixture.ts';
import { logHandler } from './log-requests.ts';
import { proxyHandlers } from './proxy-requests.ts';
import { streamHandlers } from './stream-requests.ts';

export type KubeletStub = {
  request?: (request: IncomingMessage, response: ServerResponse) => void;
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
};

export type ConnectedNodeOptions = {
  kubelet?: KubeletStub;
  decide?: TestServerOptions['decide'];
  /** Returns the connector to be used instead of `others`, which connects to the test's kubelet. */
  connector?: (others: NodeConnector) => NodeConnector;
  kubeletAuthority?: (own: string) => string;
  /** Changes a connection's options, such as PodExecOptions, in admission. Default: no changes. */
  mutate?: (options: ApiObject) => ApiObject;
};

/**
 * Pods in `default`: `lone` with one container, `many` with all three types of containers, `waiting` without a node, and `adrift` on a
 * nonexistent node.
 */
const PODS: ApiObject[] = [
  pod('lone', { nodeName: 'n1', containers: [{ name: 'main' }] }),
  pod('many', {
    nodeName: 'n1',
    initContainers: [{ name: 'first' }],
    containers: [{ name: 'a' }, { name: 'b' }],
    ephemeralContainers: [{ name: 'debug' }],
  }),
  pod('waiting', { containers: [{ name: 'main' }] }),
  pod('adrift', { nodeName: 'n9', containers: [{ name: 'main' }] }),
];

function pod(name: string, spec: object): ApiObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', uid: `uid-${name}` }, spec };
}

export class ConnectedNode implements AsyncDisposable {
  readonly server: TestServer;
  readonly #kubelet: Server;
  /** Requests that the kubelet has received, e.g. `GET /containerLogs/… by USER`. */
  readonly received: string[] = [];
  readonly requests: IncomingMessage[] = [];
  readonly #sockets = new Set<Socket>();

  private constructor(server: TestServer, kubelet: Server) {
    this.server = server;
    this.#kubelet = kubelet;
  }

  static async start({ kubelet = {}, decide, connector, kubeletAuthority, mutate }: ConnectedNodeOptions = {}) {
    const directory = mkdtempSync(join(tmpdir(), 'api-authority-'));
    const authority = await CertificateAuthority.open(directory, Date.now);
    rmSync(directory, { recursive: true });
    const { certificate: cert, key } = authority.server(['localhost', '127.0.0.1']);
    const tls = { cert, key, ca: authority.certificate, requestCert: true };
    const listener = createServer(tls);
    const clientPair = () => authority.client({ commonName: 'kubelet-client', organizations: ['system:masters'] });
    const subresources = (store: ObjectStore) => {
      const others = new TlsNodeConnector({
        store,
        clientPair,
        kubeletAuthority: kubeletAuthority?.(authority.certificate),
      });
      const parts = { connector: connector?.(others) ?? others, store, admission: admissionOf(mutate) };
      const authorizer = {
        authorize: (given: never) => ({ decision: (decide ?? (() => 'allow'))(given), reason: 'no' }),
      } as const;
      return new Map([
        ['pods/log', logHandler(parts.connector)] as const,
        ...streamHandlers({ ...parts, authorizer: authorizer as never }),
        ...proxyHandlers(parts),
      ]);
    };
    const server = await TestServer.start({ subresources, decide });
    const node = new ConnectedNode(server, listener);
    node.#listen(kubelet);
    await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve));
    for (const one of [...PODS, node.#node()]) node.put(one);
    return node;
  }

  get port(): number {
    return (this.#kubelet.address() as AddressInfo).port;
  }

  put(object: ApiObject): void {
    const { kind = '', metadata } = object;
    const { name = '', namespace = '' } = metadata;
    const plural = kind === 'Endpoints' ? 'endpoints' : `${kind.toLowerCase()}s`;
    this.server.store.create({ resource: plural, namespace, name }, object);
  }

  /** Makes the kubelet refuse connections and closes existing ones. */
  stopKubelet(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => void this.#kubelet.close(() => resolve()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    if (this.#kubelet.listening) await this.stopKubelet();
  }

  #listen({ request, upgrade }: KubeletStub): void {
    const record = (received: IncomingMessage) => {
      const { subject } = (received.socket as TLSSocket).getPeerCertificate();
      this.received.push(`${received.method} ${received.url} by ${subject?.CN}`);
      this.requests.push(received);
    };
    this.#kubelet.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#kubelet.on('request', (received, response) => {
      record(received);
      if (request === undefined) response.end('ok');
      else request(received, response);
    });
    if (upgrade === undefined) return;
    this.#kubelet.on('upgrade', (received, socket, head) => {
      record(received);
      socket.on('error', () => undefined);
      upgrade(received, socket, head);
    });
  }

  #node(): ApiObject {
    const status = {
      addresses: [
        { type: 'Hostname', address: 'no-such-host.invalid' },
        { type: 'InternalIP', address: '127.0.0.1' },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: this.port } },
    };
    return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status };
  }
}

const admissionOf = (mutate: (options: ApiObject) => ApiObject = (options) => options) => ({
  mutate: async ({ object }: { object?: ApiObject }) => object && mutate(object),
  validate: async () => undefined,
});

/** A client's connection after a protocol upgrade. `head`: the first bytes received on it. `headers`: those of the 101 response. */
export type Upgraded = { socket: Duplex; head: Buffer; headers: IncomingMessage['headers'] };

/** Requests a protocol upgrade over the unix socket. Returns the connection or, if the upgrade is refused, the response. */
export function requestUpgrade(
  { server }: ConnectedNode,
  { path, method = 'POST', headers = {} }: { path: string; method?: string; headers?: OutgoingHttpHeaders },
): Promise<Upgraded | { status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<Upgraded | { status: number; text: string }>();
  const all = {
    connection: 'Upgrade',
    upgrade: 'SPDY/3.1',
    ...(method === 'POST' && { 'content-length': 0 }),
    ...headers,
  };
  const sent = plainRequest({ socketPath: server.socketPath, method, path, headers: all, agent: false });
  sent.on('error', reject);
  sent.on('upgrade', (response, socket, head) => {
    socket.on('error', () => undefined);
    resolve({ socket, head, headers: response.headers });
  });
  sent.on('response', async (response) => {
    const chunks: Buffer[] = await response.toArray();
    resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
  });
  sent.end();
  return promise;
}
