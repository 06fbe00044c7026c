/** Webhooks: the reviews they receive, and how each possible response affects the request. */
import type { Case } from './cases.ts';
import type { Json } from './json.ts';
import type { Transcript } from './transcript.ts';
import { type Answer, WebhookServer } from './webhook-server.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
/** How long to wait until kube-apiserver has seen new webhook configurations, which it reads from an informer. */
const INFORMED_MS = 2000;

const base64 = (value: Json): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64');

const patch = (...operations: Json[]): Json => ({ allowed: true, patchType: 'JSONPatch', patch: base64(operations) });
const add = (path: string, value: Json) => ({ op: 'add', path, value });
const says =
  (answer: Json): Answer =>
  () =>
    answer;
const whole =
  (body: Json): Answer =>
  () => ({ whole: body });
const status =
  (code: number, text: string, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    void response.writeHead(code, headers).end(text);

const V1 = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };

/** Webhook responses to the creation of a ConfigMap, by webhook path. */
const ANSWERS: Record<string, Answer> = {
  allow: says({ allowed: true }),
  deny: says({ allowed: false }),
  'deny-message': says({ allowed: false, status: { message: 'no', code: 403 } }),
  'deny-reason': says({ allowed: false, status: { reason: 'Because', code: 200 } }),
  'deny-status': says({ allowed: false, status: { status: 'Success', code: 418, message: 'tea' } }),
  'deny-details': says({
    allowed: false,
    status: {
      message: 'm',
      reason: 'Invalid',
      code: 422,
      details: { name: 'x', causes: [{ field: 'a', message: 'b' }] },
    },
  }),
  'deny-warnings': says({ allowed: false, warnings: ['one', 'two "quoted"'], status: { message: 'm' } }),
  warnings: says({ allowed: true, warnings: ['first', 'first', 'second', 'a\nb', 'x'.repeat(300)] }),
  annotations: says({ allowed: true, auditAnnotations: { a: 'b' } }),
  label: says(patch(add('/metadata/labels', { from: 'webhook' }))),
  data: says(patch(add('/data/b', '2'), { op: 'replace', path: '/data/a', value: '3' })),
  'no-operations': says(patch()),
  'null-patch': says({ allowed: true, patchType: 'JSONPatch', patch: base64('null') }),
  'patch-denied': says({ ...patch(add('/data/b', '2')), allowed: false }),
  rename: says(patch(add('/metadata/name', 'renamed'))),
  'other-namespace': says(patch(add('/metadata/namespace', 'default'))),
  uid: says(patch(add('/metadata/uid', 'u'))),
  'remove-metadata': says(patch({ op: 'remove', path: '/metadata' })),
  'remove-name': says(patch({ op: 'remove', path: '/metadata/name' })),
  'other-kind': says(patch(add('/kind', 'Secret'))),
  'remove-kind': says(patch({ op: 'remove', path: '/kind' })),
  'unknown-field': says(patch(add('/unknown', 'x'))),
  'wrong-type': says(patch(add('/data', { a: 1 }))),
  'invalid-value': says(patch(add('/data', { 'a b': '1' }))),
  'missing-path': says(patch(add('/x/y', 1))),
  'failed-test': says(patch({ op: 'test', path: '/data/a', value: 'z' }, add('/data/b', '2'))),
  'unknown-operation': says(patch({ op: 'grow', path: '/data' })),
  'invalid-owners': says(patch(add('/metadata/managedFields', [{ manager: 'x', operation: 'Grow' }]))),
  'no-owners': says(patch(add('/metadata/managedFields', []))),
  'two-owners': says(
    patch(
      add(
        '/metadata/ownerReferences',
        [1, 2].map(() => ({ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' })),
      ),
    ),
  ),
  'patch-object': says({ allowed: true, patchType: 'JSONPatch', patch: base64({ op: 'add' }) }),
  'patch-garbage': says({ allowed: true, patchType: 'JSONPatch', patch: base64('[') }),
  'patch-base64': says({ allowed: true, patchType: 'JSONPatch', patch: '???' }),
  'patch-without-type': says({ allowed: true, patch: base64([]) }),
  'type-without-patch': says({ allowed: true, patchType: 'JSONPatch' }),
  'empty-type': says({ allowed: true, patchType: '', patch: base64([]) }),
  'other-type': says({ allowed: true, patchType: 'Merge', patch: base64([]) }),
  'other-uid': says({ allowed: true, uid: 'other' }),
  'no-response': whole(V1),
  'null-response': whole({ ...V1, response: null }),
  'no-kind': (review) => ({ whole: { response: { uid: review.request.uid, allowed: true } } }),
  'only-kind': (review) => ({ whole: { kind: V1.kind, response: { uid: review.request.uid, allowed: true } } }),
  'older-version': (review) => ({
    whole: { ...V1, apiVersion: 'admission.k8s.io/v1beta1', response: { uid: review.request.uid, allowed: true } },
  }),
  'unknown-version': (review) => ({
    whole: { ...V1, apiVersion: 'admission.k8s.io/v7', response: { uid: review.request.uid, allowed: true } },
  }),
  'unknown-kind': whole({ apiVersion: 'v1', kind: 'Pod' }),
  empty: whole(''),
  garbage: whole('garbage'),
  list: whole('[]'),
  'allowed-text': says({ allowed: 'yes' }),
  'warnings-text': says({ allowed: true, warnings: 'w' }),
  'annotations-number': says({ allowed: true, auditAnnotations: { a: 1 } }),
  'status-text': says({ allowed: false, status: 'no' }),
  400: status(400, 'bad'),
  401: status(401, 'who'),
  403: status(403, 'no\n'),
  404: status(404, 'where'),
  409: status(409, 'x'),
  422: status(422, 'x'),
  429: status(429, 'slow'),
  500: status(500, 'broken'),
  503: status(503, 'later'),
  599: status(599, ''),
  'status-body': status(
    403,
    JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'from status', code: 403 }),
    {
      'content-type': 'application/json',
    },
  ),
  204: status(204, ''),
  slow: (_, response) => {
    const timer = setTimeout(() => response.end(), 20_000);
    response.once('close', () => clearTimeout(timer));
    return undefined;
  },
  reset: (_, response) => void response.destroy(),
};

const RULE = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };

type Hook = { server: WebhookServer; path: string; space: string; more?: Json };

function webhook({ server, path, space, more = {} }: Hook): Json {
  return {
    name: `${path}.example.com`,
    clientConfig: server.clientConfig(path),
    rules: [RULE],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 2,
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': space } },
    ...more,
  };
}

/** Creates webhook configurations and waits until the server calls the webhooks. */
async function configure(api: Transcript, configurations: readonly { kind: string; name: string; webhooks: Json[] }[]) {
  for (const { kind, name, webhooks } of configurations) {
    const plural = `${kind.toLowerCase()}webhookconfigurations`;
    await api.send('POST', `${GROUP}/${plural}`, { metadata: { name }, webhooks }, { quiet: true });
  }
  await new Promise((resolve) => setTimeout(resolve, INFORMED_MS));
}

async function remove(api: Transcript, configurations: readonly { kind: string; name: string }[]) {
  for (const { kind, name } of configurations)
    await api.send('DELETE', `${GROUP}/${kind.toLowerCase()}webhookconfigurations/${name}`, undefined, { quiet: true });
}

/** Creates a namespace with a service account. Returns its path. */
async function space(api: Transcript, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${name}`;
  await api.send('POST', '/api/v1/namespaces', { metadata: { name } }, { quiet: true });
  await api.send('POST', `${path}/serviceaccounts`, { metadata: { name: 'default' } }, { quiet: true });
  return path;
}

/** Adds the reviews to the transcript's exchanges, so that they are compared too. */
function compareReviews(api: Transcript, server: WebhookServer): void {
  for (const { path, url, headers, review } of server.reviews)
    api.exchanges.push({ request: { method: 'REVIEW', path }, status: 0, headers: {}, body: { url, headers, review } });
}

const CONFIG_MAP = { metadata: { name: 'c' }, data: { a: '1' } };

/** Creates one ConfigMap for each response in `ANSWERS`, in a namespace whose webhook returns that response. */
function answers(kind: 'Mutating' | 'Validating', failurePolicy: string): Case {
  const run = async (api: Transcript) => {
    const server = await WebhookServer.start(ANSWERS);
    const prefix = `hook-${kind}-${failurePolicy}`.toLowerCase();
    const names = Object.keys(ANSWERS);
    const webhooks = names.map((path) =>
      webhook({ server, path, space: `${prefix}-${path}`, more: { failurePolicy } }),
    );
    const configurations = [{ kind, name: prefix, webhooks }];
    const spaces = await Promise.all(names.map((path) => space(api, `${prefix}-${path}`)));
    await configure(api, configurations);
    await api.sendAll(spaces.map((path) => ({ method: 'POST', path: `${path}/configmaps`, body: CONFIG_MAP })));
    await remove(api, configurations);
    await server.stop();
  };
  return { name: `webhooks: ${kind} ${failurePolicy}`, run };
}

const EVERYTHING = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };
const DEPLOYMENT = {
  metadata: { name: 'd' },
  spec: {
    replicas: 0,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};
const POD = {
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 0 },
};

/** Compares the admission reviews that webhooks receive for each type of request. */
async function reviews(api: Transcript): Promise<void> {
  const server = await WebhookServer.start(ANSWERS);
  const name = 'hook-reviews';
  const path = await space(api, name);
  const apps = path.replace('/api/v1', '/apis/apps/v1');
  const all = webhook({ server, path: 'allow', space: name, more: { rules: [EVERYTHING] } });
  const configurations = [
    { kind: 'Mutating', name: 'hook-reviews', webhooks: [all] },
    {
      kind: 'Validating',
      name: 'hook-reviews',
      webhooks: [{ ...all, clientConfig: server.clientConfig('annotations') }],
    },
  ];
  await configure(api, configurations);
  await api.send('POST', `${path}/configmaps?fieldManager=me&fieldValidation=Strict`, CONFIG_MAP);
  await api.put(`${path}/configmaps/c?dryRun=All`, { metadata: { name: 'c' }, data: { a: '2' } });
  await api.patch(`${path}/configmaps/c`, 'merge', { data: { b: '1' } });
  await api.patch(`${path}/configmaps/applied?fieldManager=a&force=true`, 'apply', {
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: { name: 'applied' },
  });
  await api.post(`${path}/configmaps`, { metadata: { generateName: 'gen-' } });
  await api.delete(`${path}/configmaps/c`, { gracePeriodSeconds: 0, propagationPolicy: 'Background' });
  await api.delete(`${path}/configmaps/none`);
  await api.delete(`${path}/configmaps?labelSelector=a%3Db`);
  await api.post(`${apps}/deployments`, DEPLOYMENT);
  await api.put(`${apps}/deployments/d/scale`, { metadata: { name: 'd' }, spec: { replicas: 1 } });
  await api.patch(`${apps}/deployments/d/scale`, 'merge', { spec: { replicas: 2 } });
  await api.patch(`${apps}/deployments/d/status`, 'merge', { status: { replicas: 1 } });
  await api.post(`${path}/pods`, POD);
  await api.post(`${path}/pods/p/binding`, { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } });
  await api.post(`${path}/pods/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } });
  await api.get(`${path}/pods/p/proxy/x?y=z`);
  await api.post(`${path}/serviceaccounts/default/token`, { spec: { audiences: ['a'] } });
  await api.patch(`/api/v1/namespaces/${name}`, 'merge', { metadata: { labels: { a: 'b' } } });
  await api.as('alice', 'admins', 'system:masters').delete(`${path}/configmaps/applied`);
  await remove(api, configurations);
  compareReviews(api, server);
  await server.stop();
}

const AUTOSCALER = {
  metadata: { name: 'h' },
  spec: {
    maxReplicas: 3,
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
    metrics: [
      { type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 50 } } },
    ],
  },
};

/** Compares which webhooks are called, depending on rules, selectors, match conditions and versions. */
async function matching(api: Transcript): Promise<void> {
  const name = 'hook-matching';
  const path = await space(api, name);
  const condition = (expression: string) => ({ matchConditions: [{ name: 'c', expression }] });
  const rules = (more: Json) => ({ rules: [{ ...RULE, ...more }] });
  const autoscaling = (apiVersions: string[], more: Json = {}) => ({
    ...rules({ apiGroups: ['autoscaling'], apiVersions, resources: ['horizontalpodautoscalers'] }),
    ...more,
  });
  const hooks: Record<string, Json> = {
    cluster: rules({ scope: 'Cluster' }),
    namespaced: rules({ scope: 'Namespaced' }),
    update: rules({ operations: ['UPDATE'] }),
    'object-no': { objectSelector: { matchLabels: { a: 'x' } } },
    'object-yes': { objectSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
    'condition-true': condition('request.namespace == "hook-matching" && object.data.a == "1"'),
    'condition-false': condition('object.data.a == "2"'),
    'condition-both': {
      matchConditions: [
        { name: 'x', expression: 'object.x == 1' },
        { name: 'y', expression: 'false' },
      ],
    },
    'condition-authorizer': condition('authorizer.requestResource.check("get").allowed()'),
    'condition-ignored': { ...condition('object.none == 1'), failurePolicy: 'Ignore' },
    'v1-equivalent': autoscaling(['v1']),
    'v1-exact': autoscaling(['v1'], { matchPolicy: 'Exact' }),
    'v2-equivalent': autoscaling(['v2']),
    'any-version': autoscaling(['*']),
    events: rules({ apiGroups: ['events.k8s.io'], resources: ['events'] }),
    beta: { admissionReviewVersions: ['v9', 'v1beta1'] },
  };
  const server = await WebhookServer.start(
    Object.fromEntries(Object.keys(hooks).map((one) => [one, says({ allowed: true })])),
  );
  const webhooks = Object.entries(hooks).map(([one, more]) => webhook({ server, path: one, space: name, more }));
  const configurations = [{ kind: 'Mutating', name, webhooks }];
  await configure(api, configurations);
  await api.post(`${path}/configmaps`, { ...CONFIG_MAP, metadata: { name: 'c', labels: { a: 'b' } } });
  const autoscalers = (version: string) => `/apis/autoscaling/${version}/namespaces/${name}/horizontalpodautoscalers`;
  await api.post(autoscalers('v2'), AUTOSCALER);
  await api.patch(`${autoscalers('v1')}/h`, 'merge', { spec: { maxReplicas: 4 } });
  await api.post(autoscalers('v1'), {
    metadata: { name: 'old' },
    spec: { maxReplicas: 1, scaleTargetRef: { kind: 'x', name: 'y' } },
  });
  await api.post(`${path}/events`, {
    ...{
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: name },
      reason: 'r',
      message: 'm',
    },
    ...{ type: 'Normal', source: { component: 'c' }, firstTimestamp: '2026-01-01T00:00:00Z', count: 2 },
  });
  await remove(api, configurations);
  const failing = [
    {
      kind: 'Validating',
      name,
      webhooks: [webhook({ server, path: 'x', space: name, more: condition('object.none == 1') })],
    },
  ];
  await configure(api, failing);
  await api.post(`${path}/configmaps`, { ...CONFIG_MAP, metadata: { name: 'failing' } });
  await remove(api, failing);
  compareReviews(api, server);
  await server.stop();
}

/** Compares the order in which webhooks are called, and their reinvocation (`reinvocationPolicy: IfNeeded`). */
async function order(api: Transcript): Promise<void> {
  const name = 'hook-order';
  const path = await space(api, name);
  const append =
    (value: string): Answer =>
    (review) =>
      patch(add('/metadata/labels', { ...review.request.object.metadata.labels, [value]: 'x' }));
  const paths = { first: 'b', second: 'a', third: 'c', fourth: 'd' };
  const server = await WebhookServer.start(Object.fromEntries(Object.keys(paths).map((one) => [one, append(one)])));
  const again = { reinvocationPolicy: 'IfNeeded' };
  const hook = (one: string, more: Json = {}) => webhook({ server, path: one, space: name, more });
  const configurations = [
    { kind: 'Mutating', name: 'hook-order-b', webhooks: [hook('third', again), hook('fourth')] },
    { kind: 'Mutating', name: 'hook-order-a', webhooks: [hook('second', again), hook('first', again)] },
  ];
  await configure(api, configurations);
  await api.post(`${path}/configmaps`, CONFIG_MAP);
  await api.post(`${path}/configmaps`, {
    ...CONFIG_MAP,
    metadata: { name: 'labelled', labels: { third: 'x', fourth: 'x' } },
  });
  await remove(api, configurations);
  compareReviews(api, server);
  await server.stop();
}

/** Creates invalid webhook configurations, which the server rejects. */
async function configurations(api: Transcript): Promise<void> {
  const valid = {
    name: 'a.b.c',
    clientConfig: { url: 'https://x' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  for (const kind of ['mutating', 'validating'])
    for (const more of [
      { matchConditions: [{ name: 'x', expression: 'object.' }] },
      { matchConditions: [{ name: 'x', expression: '1' }] },
      { matchConditions: [{ name: 'x', expression: 'params.x' }] },
      { matchConditions: [{ name: 'x', expression: 'variables.x == 1' }] },
      { rules: [{ ...RULE, operations: ['GROW'] }] },
      {},
    ])
      await api.post(`${GROUP}/${kind}webhookconfigurations?dryRun=All`, {
        metadata: { name: 'x' },
        webhooks: [{ ...valid, ...more }],
      });
}

export const WEBHOOK_CASES: readonly Case[] = [
  answers('Mutating', 'Fail'),
  answers('Mutating', 'Ignore'),
  answers('Validating', 'Fail'),
  { name: 'webhooks: reviews', run: reviews },
  { name: 'webhooks: matching', run: matching },
  { name: 'webhooks: order', run: order },
  { name: 'webhooks: configurations', run: configurations },
];
