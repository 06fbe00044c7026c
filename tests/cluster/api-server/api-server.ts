/**
 * A small Kubernetes API server in memory: HTTPS with HTTP/2 and HTTP/1.1, the kinds of `resource-kinds.ts` with the semantics that clients
 * rely on, faults that a test switches on, and a record of all requests.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { podAdmission } from './admission.ts';
import { Authenticator } from './authentication.ts';
import { Authorizer } from './authorization.ts';
import { CertificateAuthority, type KeyPair } from './certificates.ts';
import { type ControlSwitches, defaultSwitches, fillNamespace, startControllers } from './controllers.ts';
import { Faults } from './faults.ts';
import { HttpExchange, type Request, type Response } from './http-exchange.ts';
import type { ApiObject } from './json.ts';
import { type Credential, kubeconfigOf } from './kubeconfig.ts';
import { readObject } from './object-meta.ts';
import { ObjectStore, type StoreSnapshot } from './object-store.ts';
import { Registry } from './registry.ts';
import { handleRequest, type ServerParts } from './request-handler.ts';
import { RequestRecord } from './request-record.ts';
import { kindOfObject } from './resource-kinds.ts';
import { proxyUpgrade } from './stream-proxy.ts';
import { TokenIssuer } from './tokens.ts';
import { AUTHENTICATED, BOOTSTRAPPERS, MASTERS, NODES, type UserInfo } from './user-info.ts';

export type ApiServerOptions = {
  /** Default 0, a free port. */
  port?: number;
  /** Whether nodes are restricted by the Node authorizer and NodeRestriction. Default false. */
  restrictsNodes?: boolean;
  /** Number of changes of each kind that are retained for watches from older versions. Default 10,000. */
  historySize?: number;
  /** The initial objects. */
  snapshot?: StoreSnapshot;
};

const FIRST_NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

export class ApiServer {
  readonly authority = new CertificateAuthority('kubernetes');
  readonly faults = new Faults();
  readonly requests = new RequestRecord();
  /** Behaviour of the rest of the control plane; may be changed at any time. */
  readonly control: ControlSwitches = defaultSwitches();
  readonly #issuer = new TokenIssuer();
  readonly #options: ApiServerOptions;
  readonly #serving: KeyPair;
  readonly #nodeClient: KeyPair;
  readonly #sockets = new Set<Socket>();
  #parts!: ServerParts;
  #server: Http2SecureServer | undefined;
  #port: number;
  #stopControllers: () => void = () => undefined;

  constructor(options: ApiServerOptions = {}) {
    this.#options = options;
    this.#port = options.port ?? 0;
    this.#serving = this.authority.server({ commonName: 'kube-apiserver' }, [
      '127.0.0.1',
      '::1',
      'localhost',
      'kubernetes',
    ]);
    this.#nodeClient = this.authority.client({ commonName: 'kube-apiserver-kubelet-client', organizations: [MASTERS] });
    this.#use(new ObjectStore({ historySize: options.historySize, snapshot: options.snapshot }));
    if (options.snapshot === undefined) for (const name of FIRST_NAMESPACES) this.seed(namespace(name));
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  /** CA certificate for the server's and the clients' certificates, PEM. */
  get certificateAuthority(): string {
    return this.authority.certificate;
  }

  get registry(): Registry {
    return this.#parts.registry;
  }

  get authenticator(): Authenticator {
    return this.#parts.authenticator;
  }

  get authorizer(): Authorizer {
    return this.#parts.authorizer;
  }

  /** Stores objects like an administrator would create them; returns the stored ones. */
  seed<T extends ApiObject>(...objects: T[]): ApiObject[] {
    return objects.map((object) => {
      const kind = kindOfObject(object);
      if (kind === undefined) throw new Error(`no kind of the server: ${object.apiVersion} ${object.kind}`);
      const place = kind.namespaced ? (object.metadata.namespace ?? 'default') : '';
      const stored = this.registry.create(kind, readObject(kind, object, place));
      if (kind.kind === 'Namespace') fillNamespace(this.registry, stored.metadata.name!, this.certificateAuthority);
      return stored;
    });
  }

  /** A client certificate of an administrator. */
  admin(): Credential {
    return this.certificate('kubernetes-admin', [MASTERS]);
  }

  /** A client certificate of a node. */
  node(name: string): Credential {
    return this.certificate(`system:node:${name}`, [NODES]);
  }

  certificate(commonName: string, organizations: string[] = [], lifeMs?: number): Credential {
    return { kind: 'certificate', ...this.authority.client({ commonName, organizations }, lifeMs) };
  }

  /** A token of a user; random by default. */
  token(user: UserInfo, token: string = randomBytes(16).toString('hex')): Credential & { kind: 'token' } {
    this.authenticator.accept(token, user);
    return { kind: 'token', token };
  }

  /** A token with which a node may request its first certificate. */
  bootstrapToken(): Credential & { kind: 'token' } {
    const [id, secret] = [randomBytes(3).toString('hex'), randomBytes(8).toString('hex')];
    const groups = [BOOTSTRAPPERS, 'system:bootstrappers:kubeadm:default-node-token', AUTHENTICATED];
    return this.token({ username: `system:bootstrap:${id}`, groups }, `${id}.${secret}`);
  }

  /** A kubeconfig for a credential, as JSON, which is valid YAML. */
  kubeconfig(credential: Credential): string {
    return kubeconfigOf(this, credential);
  }

  /** The current state, for `restore`. */
  snapshot(): StoreSnapshot {
    return this.registry.store.snapshot();
  }

  async start(): Promise<void> {
    const server = createSecureServer({
      allowHTTP1: true,
      cert: this.#serving.certificate,
      key: this.#serving.key,
      ca: this.authority.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    });
    // Go clients keep idle connections for 90 s.
    Object.assign(server, { keepAliveTimeout: 120_000, requestTimeout: 0, headersTimeout: 60_000 });
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
    });
    server.on('sessionError', () => undefined);
    server.on('request', (request: Request, response: Response) => {
      void handleRequest(new HttpExchange(request, response, this.requests), this.#parts);
    });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      proxyUpgrade({ request, socket, head }, this.#parts);
    });
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Closes all connections and refuses new ones until `start`. The stored objects are retained. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Closes all connections; clients may reconnect. */
  cutConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** While stopped: replaces the state by an older one, like a restore from a backup. Issued tokens remain valid. */
  restore(snapshot: StoreSnapshot): void {
    if (this.#server !== undefined) throw new Error('only a stopped server can be restored');
    this.#use(new ObjectStore({ historySize: this.#options.historySize, snapshot }));
  }

  #use(store: ObjectStore): void {
    const registry = new Registry({ store, admission: podAdmission(() => registry) });
    this.#stopControllers();
    this.#stopControllers = startControllers({ registry, authority: this.authority, switches: this.control });
    const authenticator = new Authenticator({ registry, issuer: this.#issuer, known: this.#parts?.authenticator });
    const authorizer = new Authorizer({ registry, restrictsNodes: this.#options.restrictsNodes ?? false });
    this.#parts = {
      registry,
      authenticator,
      authorizer,
      faults: this.faults,
      issuer: this.#issuer,
      nodeClient: this.#nodeClient,
    };
  }
}

const namespace = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

/** Starts a server. */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const server = new ApiServer(options);
  await server.start();
  return server;
}
