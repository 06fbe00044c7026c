/** An in-process extension API server for tests, and an API server with a Service for it. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { silentLogger, waitFor } from '@podwright/base';
import { CertificateAuthority } from './certificates/certificate-authority.ts';
import { type Answer, type Json, send } from './server/test-client.fixture.ts';
import { type ApiServer, startApiServer } from './start-api-server.ts';

export const GROUP = 'apis.example.com';
export const PLACE = { namespace: 'default', name: 'extension' };
export const NAME = `v1.${GROUP}`;
export const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
export const BASE = `/apis/${GROUP}/v1`;

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'watch'];
const KIND = { group: GROUP, version: 'v1', kind: 'Thing' };
const THINGS = { resource: 'things', responseKind: KIND, scope: 'Namespaced', singularResource: 'thing', verbs: VERBS };
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/**
 * Handles a request to the test's extension API server. If it returns false, the request is answered with the documents of a typical
 * server.
 */
export type Handle = (request: IncomingMessage, response: ServerResponse) => boolean;

export class TestExtension implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'api-aggregation-'));
  readonly #sockets = new Set<Socket>();
  #https!: Server;
  server!: ApiServer;
  authority!: CertificateAuthority;
  /** The requests received, in order of arrival, except the API server's own checks. */
  readonly requests: IncomingMessage[] = [];
  /** Subjects of the client certificates that the API server has presented. */
  readonly clients = new Set<string>();
  handle: Handle = () => false;
  upgrade: (request: IncomingMessage, socket: Duplex) => void = (_, socket) => socket.destroy();

  static async start(): Promise<TestExtension> {
    const extension = new TestExtension();
    extension.authority = await CertificateAuthority.open(join(extension.#directory, 'authority'), Date.now);
    extension.server = await startApiServer({
      ...{ directory: join(extension.#directory, 'data'), socketPath: extension.socketPath, logger: silentLogger },
      listen: { host: '127.0.0.1', port: 0 },
    });
    await extension.#listen();
    extension.#addService();
    return extension;
  }

  get socketPath(): string {
    return join(this.#directory, 'api.sock');
  }

  get port(): number {
    return (this.#https.address() as AddressInfo).port;
  }

  async #listen(): Promise<void> {
    const { certificate: cert, key } = this.authority.server([`${PLACE.name}.${PLACE.namespace}.svc`]);
    this.#https = createServer({ cert, key, requestCert: true, rejectUnauthorized: false });
    this.#https.on('request', (request, response) => this.#answer(request, response));
    this.#https.on('upgrade', (request, socket) => {
      this.requests.push(request);
      this.upgrade(request, socket);
    });
    this.#https.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#https.listen(0, '127.0.0.1');
    await once(this.#https, 'listening');
  }

  /** Adds the Service directly to the store, because clients cannot add an endpoint with this address. */
  #addService(): void {
    const { store } = this.server;
    const ports = [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 443 }];
    const service = { apiVersion: 'v1', kind: 'Service', metadata: PLACE, spec: { type: 'ClusterIP', ports } };
    store.create({ resource: 'services', ...PLACE }, service as never);
    this.setEndpoints([{ addresses: ['127.0.0.1'], conditions: { ready: true } }]);
  }

  setEndpoints(endpoints: Json[]): void {
    const { store } = this.server;
    const key = { resource: 'endpointslices.discovery.k8s.io', namespace: PLACE.namespace, name: PLACE.name };
    const metadata = { ...PLACE, labels: { 'kubernetes.io/service-name': PLACE.name } };
    const ports = [{ name: 'https', port: this.port, protocol: 'TCP' }];
    const type = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' };
    const slice = { ...type, metadata, addressType: 'IPv4', endpoints, ports };
    const known = store.get(key);
    if (known === undefined) store.create(key, slice as never);
    else store.update(key, slice as never, known.revision);
  }

  call(
    method: string,
    path: string,
    ...[body, headers]: [body?: Json, headers?: Record<string, string>]
  ): Promise<Answer> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const sent = { method, path, headers: { 'content-type': type, ...headers } };
    const target = { socketPath: this.socketPath, port: 0, certificate: '' };
    return send(target, 'the unix socket', { ...sent, ...(body && { body: JSON.stringify(body) }) });
  }

  /** Creates an APIService that registers the extension API server. */
  register(spec: Json = {}, name = NAME): Promise<Answer> {
    const [version = '', ...group] = name.split('.');
    const caBundle = Buffer.from(this.authority.certificate).toString('base64');
    const priorities = { groupPriorityMinimum: 2000, versionPriority: 10 };
    const own = { group: group.join('.'), version, service: PLACE, caBundle, ...priorities };
    return this.call('POST', API_SERVICES, { metadata: { name }, spec: { ...own, ...spec } });
  }

  /** Waits until the APIService's `Available` condition has the reason, and returns the condition. */
  async until(reason: string, name = NAME): Promise<Json> {
    let last: Json = {};
    const probe = async () => {
      last = (await this.call('GET', `${API_SERVICES}/${name}`)).json().status?.conditions?.[0] ?? {};
      return last.reason === reason ? last : undefined;
    };
    const signal = AbortSignal.timeout(10_000);
    return waitFor(probe, { intervalMs: 10, signal }).catch((error: unknown) => {
      throw new Error(`the condition is ${JSON.stringify(last)}`, { cause: error });
    });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { subject } = (request.socket as TLSSocket).getPeerX509Certificate() ?? {};
    this.clients.add(subject ?? '');
    const user = request.headers['x-remote-user'];
    const isOfServer = user === 'system:kube-aggregator' || user === 'system:aggregator';
    if (!isOfServer) this.requests.push(request);
    if (this.handle(request, response)) return;
    const document = this.#document(request.url ?? '');
    if (document === undefined) return void response.writeHead(404).end('404 page not found');
    const type = request.url === '/apis' ? AGGREGATED : 'application/json';
    response.writeHead(200, { 'content-type': type }).end(JSON.stringify(document));
  }

  #document(url: string): Json | undefined {
    const path = url.split('?')[0]!;
    if (path === '/apis') {
      const versions = [{ version: 'v1', resources: [THINGS], freshness: 'Current' }];
      return { kind: 'APIGroupDiscoveryList', items: [{ metadata: { name: GROUP }, versions }] };
    }
    if (path === BASE) return { kind: 'APIResourceList', groupVersion: `${GROUP}/v1`, resources: [] };
    if (path === `${BASE}/things`) return { kind: 'ThingList', apiVersion: `${GROUP}/v1`, items: [] };
    if (path === '/openapi/v3') {
      const serverRelativeURL = `/openapi/v3${BASE}?hash=1`;
      const group = { serverRelativeURL: `/openapi/v3/apis/${GROUP}?hash=2` };
      const elsewhere = { serverRelativeURL: '/elsewhere' };
      return { paths: { [BASE.slice(1)]: { serverRelativeURL }, [`apis/${GROUP}`]: group, 'api/v1': elsewhere } };
    }
    if (path === `/openapi/v3${BASE}`) return { openapi: '3.0.0', info: { title: 'extension' } };
    if (path === `/openapi/v3/apis/${GROUP}`) return { openapi: '3.0.0', info: { title: 'group' } };
    if (path !== '/openapi/v2') return undefined;
    const get = { responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/com.example.Thing' } } } };
    const definitions = { 'com.example.Thing': { type: 'object' }, 'com.example.Unused': { type: 'object' } };
    return { swagger: '2.0', paths: { [`${BASE}/things`]: { get }, '/version/': {} }, definitions };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#https.close();
    for (const socket of this.#sockets) socket.destroy();
    await this.server.stop();
    rmSync(this.#directory, { recursive: true });
  }
}
