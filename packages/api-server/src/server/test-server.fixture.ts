import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textResponse, unknownPath } from '@podwright/api-documents';
import {
  forbidden,
  MemoryStore,
  type ObjectStore,
  Registries,
  type ResourceRegistry,
  unauthorized,
  untilDurable,
} from '@podwright/api-machinery';
import { silentLogger } from '@podwright/base';
import { FlowControl, LongRunning } from '@podwright/flow-control';
import type { UserInfo } from '@podwright/kube-kinds';
import { Schema } from '@podwright/kube-schema';
import type { CallerLimits } from '@podwright/streaming';
import type { AuthorizationAttributes, Verdict } from '../authorization/authorizer.ts';
import { EventEncoder } from '../wire/encode-event.ts';
import { SliceTurns } from '../wire/slice-turns.ts';
import { maxWatches } from './admit-request.ts';
import { ApiListeners, type StrangerConnections } from './api-listeners.ts';
import { RequestHandler } from './request-handler.ts';
import type { ServedResource, ServerParts } from './server-parts.ts';

const schema = await Schema.load();

export type TestServerOptions = Partial<Pick<ServerParts, 'documents' | 'anonymousPaths' | 'observers'>> & {
  /** Subresource handlers, or a function that builds them for a store. */
  subresources?: ServerParts['subresources'] | ((store: ObjectStore) => ServerParts['subresources']);
  /** Flow control for requests. Default: only the mandatory FlowSchemas and priority levels. */
  flowControl?: FlowControl;
  /** Maximum number of long-running requests per user. */
  maxLongRunning?: number;
  maxUnauthenticatedMs?: number;
  callerLimits?: CallerLimits;
  strangers?: StrangerConnections;
  /** Decides whether a request is authorized. Default: all requests are. */
  decide?: (attributes: AuthorizationAttributes) => Verdict['decision'];
  /** Functions that replace registry functions of all resources. */
  resource?: Partial<ServedResource>;
};

/** A server with an in-memory store, a unix socket and a TLS port. Tokens are `token-USER`. */
export class TestServer implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'api-server-'));
  readonly store: ObjectStore = new MemoryStore();
  readonly #registries = new Registries({ schema, strategies: {}, store: this.store });
  /** All requests that were authorized, e.g. `alice list pods x/`. */
  readonly authorized: string[] = [];
  readonly errors: unknown[] = [];
  /** Number of calls to the server's authenticator: one for each request over TLS. */
  authentications = 0;
  readonly listeners: ApiListeners;
  readonly handler: RequestHandler;
  readonly parts: ServerParts;
  port = 0;
  certificate = '';

  constructor(options: TestServerOptions = {}) {
    const { subresources = new Map() } = options;
    this.parts = {
      schema,
      servedResource: (resource) =>
        resource.group === 'batch' ? undefined : withChanges(this.#registries.for(resource), options.resource),
      subresources: typeof subresources === 'function' ? subresources(this.store) : subresources,
      documents: options.documents ?? {
        respond: async ({ path }) => (path === '/livez' ? textResponse(200, 'ok') : unknownPath()),
        unknownResource: () => unknownPath(),
      },
      authenticate: async ({ headers }) => {
        this.authentications += 1;
        return userOfToken(headers.authorization);
      },
      impersonate: (rawHeaders, { user }) => impersonated(rawHeaders, user),
      authorizer: { authorize: (attributes) => this.#authorize(attributes, options.decide) },
      encoder: new EventEncoder(),
      sliceTurns: new SliceTurns(),
      logger: { ...silentLogger, error: (...error: unknown[]) => this.errors.push(error) } as never,
      now: () => 0,
      flowControl: options.flowControl ?? new FlowControl(),
      watches: new LongRunning({ maxOfCaller: () => options.maxLongRunning ?? maxWatches(1) }),
      streams: new LongRunning({ maxOfCaller: () => options.maxLongRunning ?? maxWatches(1) }),
      untilDurable: () => untilDurable(this.store),
      anonymousPaths: options.anonymousPaths,
      observers: options.observers,
    };
    this.handler = new RequestHandler(this.parts);
    this.listeners = new ApiListeners({ handler: this.handler, logger: silentLogger, ...options });
  }

  get socketPath(): string {
    return join(this.directory, 'api.sock');
  }

  static async start(options?: TestServerOptions): Promise<TestServer> {
    const server = new TestServer(options);
    const key = join(server.directory, 'key.pem');
    const certificate = join(server.directory, 'cert.pem');
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const algorithm = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    execFileSync('openssl', ['req', '-x509', ...algorithm, '-keyout', key, '-out', certificate, ...subject], {
      stdio: 'pipe',
    });
    server.certificate = readFileSync(certificate, 'utf8');
    await server.listeners.listenLocal(server.socketPath);
    const serving = { certificate: server.certificate, key: readFileSync(key, 'utf8'), clientAuthorities: [] };
    server.port = await server.listeners.listenSecure({ host: '127.0.0.1', port: 0 }, serving, options?.strangers);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.listeners.stop(100);
    rmSync(this.directory, { recursive: true });
  }

  #authorize(attributes: AuthorizationAttributes, decide: TestServerOptions['decide'] = () => 'allow'): Verdict {
    const { user, verb, resource, subresource, namespace, name, path } = attributes;
    const target = resource === '' ? path : `${resource}${subresource && `/${subresource}`} ${namespace}/${name}`;
    this.authorized.push(`${user.username} ${verb} ${target}`);
    return { decision: decide(attributes), reason: '' };
  }
}

function userOfToken(authorization = ''): UserInfo | undefined {
  if (authorization === '') return undefined;
  const [, username] = /^Bearer token-(\w+)$/.exec(authorization) ?? [];
  if (username === undefined) throw unauthorized();
  return { username, groups: username === 'root' ? ['system:masters'] : [] };
}

function impersonated(rawHeaders: readonly string[], user: UserInfo): UserInfo | undefined {
  const at = rawHeaders.findIndex((name) => name.toLowerCase() === 'impersonate-user');
  if (at === -1) return undefined;
  if (!['root', 'system:admin'].includes(user.username))
    throw forbidden({ group: '', plural: 'users' }, rawHeaders[at + 1]!, 'not allowed');
  return { username: rawHeaders[at + 1]!, groups: [] };
}

/** Returns the registry's functions, some of them replaced by `changes`. */
const withChanges = (registry: ResourceRegistry, changes: Partial<ServedResource> = {}): ServedResource => ({
  create: (...given) => registry.create(...given),
  get: (...given) => registry.get(...given),
  list: (...given) => registry.list(...given),
  watch: (...given) => registry.watch(...given),
  update: (...given) => registry.update(...given),
  patch: (...given) => registry.patch(...given),
  delete: (...given) => registry.delete(...given),
  deleteCollection: (...given) => registry.deleteCollection(...given),
  reach: (...given) => registry.reach(...given),
  toStored: (...given) => registry.toStored(...given),
  ...changes,
});
