/** Checks that calls have the same results over HTTP and in the server's process. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { errorCode, silentLogger, waitFor, withTimeout } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import {
  ApiStatusError,
  CONFIG_MAPS,
  createKubeClient,
  type KubeClient,
  LEASES,
  NODES,
  PODS,
  readKubeconfig,
  SECRETS,
  SERVICE_ACCOUNTS,
  SUBJECT_ACCESS_REVIEWS,
} from '@podwright/kube-client';
import type { UserInfo } from '@podwright/kube-kinds';
import { type ApiServer, startApiServer } from './start-api-server.ts';

const ADMIN: UserInfo = { username: 'admin', groups: ['system:masters'] };
const NODE: UserInfo = { username: 'system:node:n1', groups: ['system:nodes'] };
const WAYS = ['HTTP', 'in process'] as const;
type Way = (typeof WAYS)[number];

/** A server with clients for two users, either over HTTP or in the server's process. */
class Served {
  readonly #directory = mkdtempSync(join(tmpdir(), 'in-process-'));
  readonly #way: Way;
  #server: ApiServer | undefined;
  admin!: KubeClient;
  node!: KubeClient;

  constructor(way: Way) {
    this.#way = way;
  }

  async start(): Promise<void> {
    this.#server = await startApiServer({
      directory: join(this.#directory, 'data'),
      socketPath: join(this.#directory, 'api.sock'),
      listen: { host: '127.0.0.1', port: 0 },
      logger: silentLogger,
    });
    this.admin = await this.#client(ADMIN);
    this.node = await this.#client(NODE);
  }

  async #client(user: UserInfo): Promise<KubeClient> {
    const { username, groups } = user;
    if (this.#way === 'in process')
      return this.#server!.client({ ...user, groups: [...groups, 'system:authenticated'] });
    const path = join(this.#directory, `${username}.kubeconfig`);
    writeFileSync(path, this.#server!.kubeconfig({ username, groups }));
    return createKubeClient(await readKubeconfig(path));
  }

  async stop(): Promise<void> {
    for (const client of [this.admin, this.node]) client?.close();
    await this.#server?.stop();
    rmSync(this.#directory, { recursive: true });
  }
}

type Calls = (served: Served) => Promise<unknown>;

/** Returns the value that a call resolves with or, if it rejects, a description of the error. */
async function outcome(call: Promise<unknown>): Promise<unknown> {
  try {
    return { answer: await call };
  } catch (error) {
    assert.ok(error instanceof Error);
    const status = error instanceof ApiStatusError ? error.status : undefined;
    return { code: errorCode(error), message: error.message, status };
  }
}

const VARYING = [
  'uid',
  'continue',
  'resourceVersion',
  'creationTimestamp',
  'time',
  'token',
  'expirationTimestamp',
  'lastTransitionTime',
];

/** Masks values that differ from server to server, such as UIDs and timestamps. */
function comparable(value: unknown): unknown {
  const text = JSON.stringify(value, (name, one) => (VARYING.includes(name) && one ? `(${name})` : one)) ?? 'null';
  return JSON.parse(
    text
      .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '(uid)')
      .replaceAll(/kube-api-access-\w+/g, 'kube-api-access-(random)'),
  );
}

/** Asserts that an object contains no undefined fields, which objects decoded from JSON do not have either. */
function assertPlain(value: unknown, path = 'answer'): void {
  if (typeof value !== 'object' || value === null || value instanceof Error) return;
  for (const [name, one] of Object.entries(value)) {
    assert.notEqual(one, undefined, `${path}.${name}`);
    assertPlain(one, `${path}.${name}`);
  }
}

const configMap = (name: string, more: object = {}): KubeObject & { data?: Record<string, string> } => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  ...more,
});
const pod = (name: string, more: object = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'busybox' }], ...more },
  }) as KubeObject;
const at = (name: string) => ({ namespace: 'default', name });

/** Sequences of calls whose results over HTTP and in process must be the same. Each runs on a new server. */
const SEQUENCES: Record<string, Calls> = {
  'reads of objects': async ({ admin, node }) => [
    await outcome(
      admin.create(
        CONFIG_MAPS,
        configMap('a', { data: { key: 'value' }, metadata: { ...at('a'), labels: { x: '1' } } }),
      ),
    ),
    await outcome(admin.create(CONFIG_MAPS, configMap('b'))),
    await outcome(admin.get(CONFIG_MAPS, at('a'))),
    await outcome(admin.get(CONFIG_MAPS, at('missing'))),
    await outcome(admin.get(CONFIG_MAPS, at('..'))),
    await outcome(admin.get(CONFIG_MAPS, { name: 'a' })),
    await outcome(admin.list(CONFIG_MAPS, { namespace: 'default', labelSelector: 'x=1' })),
    await outcome(admin.list(CONFIG_MAPS, { namespace: 'default', labelSelector: 'x=(' })),
    await outcome(
      admin.list(CONFIG_MAPS, { namespace: 'default', fieldSelector: 'metadata.name!=kube-root-ca.crt', limit: 1 }),
    ),
    await outcome(admin.list(CONFIG_MAPS, { namespace: 'default', continue: 'garbage' })),
    await outcome(admin.list(CONFIG_MAPS, { namespace: 'default', resourceVersion: 'x' })),
    await outcome(node.list(CONFIG_MAPS, { namespace: 'default' })),
    await outcome(node.get(SECRETS, at('hidden'))),
    await outcome(admin.get({ ...CONFIG_MAPS, plural: 'unknowns' }, at('a'))),
    await outcome(admin.get({ ...CONFIG_MAPS, group: 'unknown.example', version: 'v1' }, at('a'))),
  ],
  'writes of objects': async ({ admin }) => {
    const first = await admin.create<KubeObject>(
      CONFIG_MAPS,
      configMap('a', { data: { key: 'value', none: undefined } }),
    );
    const changed = { ...first, data: { key: 'other' } };
    return [
      first,
      await outcome(admin.create(CONFIG_MAPS, configMap('a'))),
      await outcome(admin.create(CONFIG_MAPS, configMap('No Name'))),
      await outcome(admin.create(CONFIG_MAPS, { ...configMap('b'), kind: 'Secret' })),
      await outcome(admin.create(CONFIG_MAPS, configMap('c', { data: { key: 1 } }))),
      await outcome(admin.create(CONFIG_MAPS, configMap('d', { unknown: true }))),
      await outcome(admin.create(CONFIG_MAPS, { ...configMap('e'), metadata: { ...at('e'), namespace: 'nowhere' } })),
      await outcome(admin.update(CONFIG_MAPS, changed)),
      await outcome(admin.update(CONFIG_MAPS, changed)),
      await outcome(admin.update(CONFIG_MAPS, configMap('missing'))),
      await outcome(
        admin.patch(CONFIG_MAPS, at('a'), { type: 'merge', body: { data: { key: null, more: '1', no: undefined } } }),
      ),
      await outcome(
        admin.patch(CONFIG_MAPS, at('a'), { type: 'strategic', body: { metadata: { labels: { a: 'b' } } } }),
      ),
      await outcome(
        admin.patch(CONFIG_MAPS, at('a'), { type: 'json', body: [{ op: 'test', path: '/data/more', value: 'x' }] }),
      ),
      await outcome(admin.patch(CONFIG_MAPS, at('a'), { type: 'json', body: [{ op: 'remove', path: '/data/more' }] })),
      await outcome(admin.patch(CONFIG_MAPS, at('a'), { type: 'merge', body: [] })),
      await outcome(admin.patchForMetadata(CONFIG_MAPS, at('a'), { type: 'merge', body: { data: { secret: 'x' } } })),
      await outcome(admin.patch(CONFIG_MAPS, at('missing'), { type: 'merge', body: {} })),
    ];
  },
  deletions: async ({ admin }) => {
    for (const name of ['a', 'b', 'c']) await admin.create(CONFIG_MAPS, configMap(name));
    return [
      await outcome(admin.delete(CONFIG_MAPS, at('a'), { preconditions: { uid: 'other' } })),
      await outcome(admin.delete(CONFIG_MAPS, at('a'), { propagationPolicy: 'Never' as never })),
      await outcome(admin.delete(CONFIG_MAPS, at('a'))),
      await outcome(admin.delete(CONFIG_MAPS, at('a'))),
      await outcome(admin.deleteCollection(CONFIG_MAPS, { namespace: 'default', fieldSelector: 'metadata.name=b' })),
      await outcome(
        admin.list(CONFIG_MAPS, { namespace: 'default', fieldSelector: 'metadata.name!=kube-root-ca.crt' }),
      ),
    ];
  },
  'the life of a node and its pod': async ({ admin, node }) => {
    const own = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };
    const lease = { apiVersion: LEASES_VERSION, kind: 'Lease', metadata: { name: 'n1', namespace: 'kube-node-lease' } };
    const results = [
      await outcome(node.create(NODES, { ...own, metadata: { name: 'n2' } })),
      await outcome(node.create(NODES, own)),
      await outcome(node.patch(NODES, { name: 'n1' }, { type: 'strategic', subresource: 'status', body: STATUS })),
      await outcome(
        node.patch(
          NODES,
          { name: 'n1' },
          { type: 'merge', body: { metadata: { labels: { 'node-restriction.kubernetes.io/a': '1' } } } },
        ),
      ),
      await outcome(node.create(LEASES, lease)),
      await outcome(admin.create(PODS, pod('p'))),
      await outcome(node.list(PODS, { fieldSelector: 'spec.nodeName=n1' })),
      await outcome(node.list(PODS, {})),
      await outcome(node.patch(PODS, at('p'), { type: 'strategic', subresource: 'status', body: RUNNING })),
      await outcome(node.patch(PODS, at('p'), { type: 'strategic', body: { metadata: { labels: { a: 'b' } } } })),
    ];
    const { uid } = (await admin.get(PODS, at('p'))).metadata;
    const request = (boundUid: string | undefined) => ({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: at('default'),
      spec: {
        audiences: [],
        expirationSeconds: 3600,
        boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: boundUid },
      },
    });
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: { user: 'x', nonResourceAttributes: { path: '/', verb: 'get' } },
    };
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: at('p') };
    return [
      ...results,
      await outcome(node.create(SERVICE_ACCOUNTS, request(uid), { subresource: 'token' })),
      await outcome(node.create(SERVICE_ACCOUNTS, request('other'), { subresource: 'token' })),
      await outcome(node.create(SUBJECT_ACCESS_REVIEWS, review)),
      await outcome(admin.create(PODS, eviction, { subresource: 'eviction' })),
      await outcome(admin.create(PODS, eviction, { subresource: 'unknown' })),
      await outcome(node.delete(PODS, at('p'), { gracePeriodSeconds: 0 })),
      await outcome(node.get(PODS, at('p'))),
    ];
  },
  paths: async ({ admin, node }) => [
    await outcome(admin.getText('/version')),
    await outcome(admin.getText('/livez')),
    await outcome(admin.getText('/nope')),
    await outcome(node.getText('/metrics')),
  ],
  watches: async ({ admin, node }) => {
    await admin.create(CONFIG_MAPS, configMap('a'));
    const { metadata } = await admin.list(CONFIG_MAPS, {});
    const options = { namespace: 'default', fieldSelector: 'metadata.name=a', timeoutSeconds: 20 };
    const work = async () => {
      await admin.patch(CONFIG_MAPS, at('a'), { type: 'merge', body: { data: { key: 'x' } } });
      await admin.delete(CONFIG_MAPS, at('a'));
    };
    return [
      await outcome(eventsOf(admin, { ...options, sendInitialEvents: true }, { count: 4, onInitialEnd: work })),
      await outcome(eventsOf(admin, { ...options, resourceVersion: metadata.resourceVersion }, { count: 2 })),
      await outcome(
        eventsOf(admin, { ...options, timeoutSeconds: 1, resourceVersion: metadata.resourceVersion }, { count: 3 }),
      ),
      await outcome(eventsOf(admin, { ...options, resourceVersion: '1' }, { count: 1 })),
      await outcome(eventsOf(admin, { ...options, resourceVersion: 'x' }, { count: 1 })),
      await outcome(eventsOf(node, { namespace: 'default', timeoutSeconds: 20 }, { count: 1 })),
    ];
  },
};

const LEASES_VERSION = 'coordination.k8s.io/v1';
const STATUS = {
  status: { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'is ready' }] },
};
const RUNNING = { status: { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] } };

/** Returns the first events of a ConfigMap watch. */
async function eventsOf(
  client: KubeClient,
  options: Parameters<KubeClient['watch']>[1],
  { count, onInitialEnd }: { count: number; onInitialEnd?: () => Promise<void> },
): Promise<unknown[]> {
  const events: unknown[] = [];
  let opened = 0;
  const ending = new AbortController();
  const onOpen = () => {
    opened++;
  };
  for await (const event of client.watch(CONFIG_MAPS, { ...options, onOpen }, ending.signal)) {
    if (event.type === 'BOOKMARK') await onInitialEnd?.();
    events.push(event);
    if (events.length === count) ending.abort();
  }
  assert.equal(opened, 1);
  return events;
}

describe('a client in the process', () => {
  for (const [name, calls] of Object.entries(SEQUENCES)) {
    it(`has the answers of an HTTP client to ${name}`, async () => {
      const results: unknown[] = [];
      for (const way of WAYS) {
        const served = new Served(way);
        try {
          await served.start();
          const result = await calls(served);
          if (way === 'in process') assertPlain((result as { answer?: unknown }[]).map((one) => one.answer ?? null));
          results.push(comparable(result));
        } finally {
          await served.stop();
        }
      }
      assert.deepEqual(results[1], results[0]);
    });
  }
});

describe('the objects of a client in the process', () => {
  const served = new Served('in process');
  before(() => served.start());
  after(() => served.stop());

  it('belong to the caller', async () => {
    const given = configMap('own', { data: { key: 'value' } });
    const created = await served.admin.create<KubeObject & { data: Record<string, string> }>(CONFIG_MAPS, given);
    given.data!.key = created.data.key = 'changed';
    created.metadata.labels = { a: 'b' };
    const read = await served.admin.get<typeof created>(CONFIG_MAPS, at('own'));
    assert.deepEqual(read.data, { key: 'value' });
    read.data.key = 'changed';
    const { items } = await served.admin.list<typeof created>(CONFIG_MAPS, { fieldSelector: 'metadata.name=own' });
    assert.deepEqual(items[0]?.data, { key: 'value' });
    assert.equal(items[0]?.metadata.labels, undefined);
  });

  it('may have any names of labels', async () => {
    const labels = JSON.parse('{"__proto__":"a","toJSON":"b"}');
    const stored = await served.admin
      .create<KubeObject>(CONFIG_MAPS, { ...configMap('odd'), metadata: { ...at('odd'), annotations: labels } })
      .catch((error) => error);
    const overHttp = /prefix|__proto__/;
    if (stored instanceof Error) assert.match(stored.message, overHttp);
    else assert.equal(Object.hasOwn(stored.metadata.annotations!, 'toJSON'), true);
  });

  it('are not delivered after the signal aborts', async () => {
    const reason = new Error('no longer needed');
    await assert.rejects(served.admin.get(CONFIG_MAPS, at('own'), { signal: AbortSignal.abort(reason) }), reason);
  });
});

it('the calls of a client in the process are in the audit log and the metrics', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'in-process-'));
  const path = join(directory, 'audit.log');
  const server = await startApiServer({
    ...{ directory: join(directory, 'data'), socketPath: join(directory, 'api.sock'), logger: silentLogger },
    audit: { path },
  });
  const use = async () => {
    const node = server.client({ ...NODE, groups: [...NODE.groups, 'system:authenticated'] });
    await outcome(node.get(NODES, { name: 'n1' }));
    await outcome(node.list(CONFIG_MAPS, {}));
    const admin = server.client(ADMIN);
    await outcome(eventsOf(admin, { timeoutSeconds: 20, resourceVersion: '0' }, { count: 1 }));
    using signal = withTimeout(undefined, 10_000, 'wait for the end of the watch');
    const ended = /^apiserver_longrunning_requests\{verb="WATCH",.*resource="configmaps",.*\} 0$/m;
    const read = async () => [await admin.getText('/metrics')].find((text) => ended.test(text));
    return await waitFor(read, { intervalMs: 5, signal });
  };
  const counted = await use().finally(() => server.stop());
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  const events = lines.map((line) => JSON.parse(line)).filter(({ requestURI }) => requestURI !== '/metrics');
  rmSync(directory, { recursive: true });
  assert.deepEqual(
    events.map(({ stage, verb, user, responseStatus }) => `${stage} ${user.username} ${verb} ${responseStatus?.code}`),
    [
      'ResponseComplete system:node:n1 get 404',
      'ResponseComplete system:node:n1 list 403',
      'ResponseStarted admin watch 200',
      'ResponseComplete admin watch 200',
    ],
  );
  assert.match(counted, /^apiserver_request_total\{verb="GET",.*resource="nodes",.*code="404"\} 1$/m);
});

it('the watches of a client in the process end with the server, and calls fail', async () => {
  const served = new Served('in process');
  await served.start();
  const { admin } = served;
  const opened = Promise.withResolvers<void>();
  const options = { timeoutSeconds: 100, onOpen: () => opened.resolve(), resourceVersion: '0' };
  const watched = (async () => {
    for await (const _ of admin.watch(CONFIG_MAPS, options, new AbortController().signal));
  })();
  await opened.promise;
  await served.stop();
  await watched.catch(() => undefined);
  await assert.rejects(admin.get(CONFIG_MAPS, at('a')), { code: 'unavailable' });
});
