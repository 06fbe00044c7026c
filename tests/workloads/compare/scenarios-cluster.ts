/** Quotas, namespaces, service accounts, garbage collection, aggregated roles, certificates, and nodes without a kubelet. */
import { sleep } from '@podwright/base';
import type { KubeObject, Resource } from '@podwright/kube-api';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  CONFIG_MAPS,
  NAMESPACES,
  NODES,
  PODS,
  SECRETS,
  SERVICE_ACCOUNTS,
} from '@podwright/kube-client';
import { requestFor } from '../../../packages/api-server/src/certificates/certificate-requests.fixture.ts';
import { addNode } from '../scripted-kubelet.fixture.ts';
import { CLUSTER_ROLES, DEPLOYMENTS, QUOTAS } from './resources.ts';
import {
  create,
  createIn,
  decide,
  deployment,
  type Place,
  patch,
  remove,
  type Scenario,
  type Step,
  spec,
  step,
  template,
  together,
  until,
  untilRemoved,
} from './steps.ts';

const map = (name: string, metadata: Record<string, unknown> = {}): Step => create(CONFIG_MAPS, name, {}, metadata);

/** Runs the step in a second namespace, whose name is that of the first with the suffix `-b`. The scenario creates and deletes it. */
const inSecond = ({ name, run }: Step): Step => ({
  name: `in the second namespace: ${name}`,
  run: (place) => run({ ...place, namespace: `${place.namespace}-b` }),
});

type OwnerOptions = { blocks?: boolean; uid?: string; fields?: Record<string, string> };

/** Creates a ConfigMap with owner references. `uid` and `fields` override those of the owner. */
const owned = (name: string, owners: { resource: Resource; name: string; options?: OwnerOptions }[]): Step =>
  step(`create ConfigMap ${name} of ${owners.map((one) => one.name).join(' and ')}`, async (place) => {
    const ownerReferences = await Promise.all(owners.map((one) => referenceTo(one, place)));
    const metadata = { namespace: place.namespace, name, ownerReferences };
    await place.client.create(CONFIG_MAPS, { metadata } as KubeObject);
  });

async function referenceTo(
  { resource, name, options = {} }: { resource: Resource; name: string; options?: OwnerOptions },
  { client, namespace }: Place,
) {
  const { group, version, kind } = resource;
  const place = resource.namespaced ? { namespace, name } : { name: `${namespace}-${name}` };
  const uid = options.uid ?? (await client.get(resource, place)).metadata.uid;
  return {
    ...{ apiVersion: group === '' ? version : `${group}/${version}`, kind, name: place.name, uid },
    ...(options.blocks && { blockOwnerDeletion: true }),
    ...options.fields,
  };
}

const ofMap = (name: string, options?: OwnerOptions) => ({ resource: CONFIG_MAPS, name, options });
const NO_UID = '11111111-2222-3333-4444-555555555555';

const role = (name: string, labels: (namespace: string) => object, resources: string[]): Step =>
  createIn(CLUSTER_ROLES, name, (namespace) => ({
    metadata: { labels: labels(namespace) },
    rules: [{ apiGroups: [''], resources, verbs: ['get'] }],
  }));

const KUBE_CLIENT = 'kubernetes.io/kube-apiserver-client';
const REQUEST = requestFor('/CN=someone');
const request = (name: string, signerName: string, usages = ['client auth', 'digital signature']): Step =>
  create(CERTIFICATE_SIGNING_REQUESTS, name, {
    spec: { request: REQUEST, signerName, usages, expirationSeconds: 3600 },
  });
const addThird = step('add the node n3', async ({ client, heartbeats }) => {
  await addNode(client, 'n3');
  await heartbeats.add('n3');
});
const onThird = (name: string, more: object = {}): Step =>
  create(PODS, name, { spec: { ...template(name).spec, nodeName: 'n3', ...more } }, { labels: { app: name } });
const loseThird = step('the kubelet of n3 ends', async ({ heartbeats }) => heartbeats.remove('n3'));
const removeThird = step('delete the node n3', ({ client, heartbeats }) => {
  heartbeats.remove('n3');
  return client.delete(NODES, { name: 'n3' });
});
type Node = KubeObject & {
  spec: { taints?: { key: string; effect: string }[] };
  status: { conditions: { type: string; status: string; reason: string; message: string }[] };
};
const showThird = step('look at the node n3', async ({ client }) => {
  const { spec: given, status } = await client.get<Node>(NODES, { name: 'n3' });
  const taints = (given.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).sort();
  const conditions = status.conditions.map((one) => `${one.type}=${one.status} ${one.reason} ${one.message}`).sort();
  return [...taints, ...conditions].join(', ');
});
const brief = ['not-ready', 'unreachable'].map((name) => ({
  ...{ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 },
}));

type Available = { status?: { availableReplicas?: number } };
type Emptied = { status?: { conditions?: { message: string }[] } };

export const CLUSTER: Scenario[] = [
  {
    name: 'quotas',
    steps: [
      create(QUOTAS, 'some', {
        spec: { hard: { pods: '2', 'requests.cpu': '1', 'count/secrets': '2', services: '1' } },
      }),
      deployment('busy', {
        template: template('busy', {
          spec: {
            containers: [{ name: 'main', image: 'v1', command: ['run'], resources: { requests: { cpu: '300m' } } }],
          },
        }),
      }),
      ...['first', 'second', 'third'].map((name) => create(SECRETS, name, {})),
      together('allow more pods, and wait for them', [
        patch(QUOTAS, 'some', { spec: { hard: { pods: '5' } } }),
        until(DEPLOYMENTS, 'busy', 'it is available', ({ status }: Available) => status?.availableReplicas === 3),
      ]),
      spec(DEPLOYMENTS, 'busy', { replicas: 1 }),
      remove(SECRETS, 'first'),
      create(QUOTAS, 'best', { spec: { hard: { pods: '1' }, scopes: ['BestEffort'] } }),
      deployment('plain', { replicas: 2 }),
      remove(QUOTAS, 'some'),
      remove(QUOTAS, 'best'),
    ],
  },
  {
    name: 'namespaces',
    steps: [
      create(NAMESPACES, 'b', {}),
      inSecond(map('kept', { finalizers: ['example.com/keep'] })),
      inSecond(map('plain')),
      inSecond(deployment('web')),
      together('delete the namespace, and wait until one object remains', [
        remove(NAMESPACES, 'b'),
        until(NAMESPACES, 'b', 'only one object remains', ({ status }: Emptied) =>
          (status?.conditions ?? []).some(({ message }) => message.includes('configmaps. has 1 resource instances')),
        ),
      ]),
      inSecond(map('too-late')),
      inSecond(patch(CONFIG_MAPS, 'kept', { metadata: { finalizers: null } }, 'merge')),
      untilRemoved(NAMESPACES, 'b'),
    ],
  },
  {
    name: 'accounts and the root certificate',
    steps: [
      remove(SERVICE_ACCOUNTS, 'default'),
      remove(CONFIG_MAPS, 'kube-root-ca.crt'),
      patch(CONFIG_MAPS, 'kube-root-ca.crt', { data: { 'ca.crt': 'other', more: 'x' } }, 'merge'),
      create(SERVICE_ACCOUNTS, 'robot', {}),
      create(
        SECRETS,
        'robot-token',
        { type: 'kubernetes.io/service-account-token' },
        { annotations: { 'kubernetes.io/service-account.name': 'robot' } },
      ),
      create(
        SECRETS,
        'absent-token',
        { type: 'kubernetes.io/service-account-token' },
        { annotations: { 'kubernetes.io/service-account.name': 'absent' } },
      ),
      remove(SERVICE_ACCOUNTS, 'robot'),
    ],
  },
  {
    name: 'garbage collection',
    steps: [
      map('one'),
      owned('one-a', [ofMap('one')]),
      owned('one-a-b', [ofMap('one-a')]),
      remove(CONFIG_MAPS, 'one', 'Background'),
      map('two'),
      owned('two-a', [ofMap('two', { blocks: true })]),
      owned('two-b', [ofMap('two')]),
      owned('two-a-c', [ofMap('two-a', { blocks: true })]),
      patch(CONFIG_MAPS, 'two-a', { metadata: { finalizers: ['example.com/keep'] } }, 'merge'),
      remove(CONFIG_MAPS, 'two', 'Foreground'),
      patch(CONFIG_MAPS, 'two-a', { metadata: { finalizers: ['foregroundDeletion'] } }, 'merge'),
      map('three'),
      owned('three-a', [ofMap('three', { blocks: true })]),
      remove(CONFIG_MAPS, 'three', 'Orphan'),
      map('four'),
      map('five'),
      owned('both', [ofMap('four'), ofMap('five')]),
      remove(CONFIG_MAPS, 'four'),
      remove(CONFIG_MAPS, 'five', 'Foreground'),
    ],
  },
  {
    name: 'garbage collection: absent owners',
    steps: [
      owned('lost', [ofMap('absent', { uid: NO_UID })]),
      map('here'),
      owned('replaced', [ofMap('here', { uid: NO_UID })]),
      create(CLUSTER_ROLES, 'owner', { rules: [] }),
      owned('of-role', [{ resource: CLUSTER_ROLES, name: 'owner' }]),
      owned('of-kind', [ofMap('x', { uid: NO_UID, fields: { apiVersion: 'example.com/v1', kind: 'Widget' } })]),
      createIn(CLUSTER_ROLES, 'of-namespaced', () => ({
        metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'here', uid: NO_UID }] },
        rules: [],
      })),
      remove(CLUSTER_ROLES, 'owner'),
      deployment('web'),
      remove(DEPLOYMENTS, 'web', 'Foreground'),
      untilRemoved(DEPLOYMENTS, 'web'),
    ],
  },
  {
    name: 'aggregated roles',
    steps: [
      createIn(CLUSTER_ROLES, 'sum', (namespace) => ({
        aggregationRule: {
          clusterRoleSelectors: [{ matchLabels: { to: namespace } }, { matchLabels: { also: namespace } }],
        },
        rules: [],
      })),
      role('b', (namespace) => ({ to: namespace }), ['pods']),
      role('a', (namespace) => ({ to: namespace, also: namespace }), ['secrets']),
      role('c', (namespace) => ({ also: namespace }), ['pods']),
      patch(
        CLUSTER_ROLES,
        'b',
        { rules: [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['list'] }] },
        'merge',
      ),
      patch(CLUSTER_ROLES, 'sum', { rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }] }, 'merge'),
      remove(CLUSTER_ROLES, 'a'),
      patch(CLUSTER_ROLES, 'b', { metadata: { labels: null } }, 'merge'),
    ],
  },
  {
    name: 'certificates',
    steps: [
      request('signed', KUBE_CLIENT),
      decide('signed', 'Approved'),
      request('denied', KUBE_CLIENT),
      decide('denied', 'Denied'),
      request('usages', KUBE_CLIENT, ['server auth']),
      decide('usages', 'Approved'),
      request('kubelet', 'kubernetes.io/kube-apiserver-client-kubelet'),
      decide('kubelet', 'Approved'),
      request('serving', 'kubernetes.io/kubelet-serving', ['server auth', 'digital signature']),
      decide('serving', 'Approved'),
      request('legacy', 'kubernetes.io/legacy-unknown'),
      request('foreign', 'example.com/signer', ['client auth']),
      decide('foreign', 'Approved'),
    ],
  },
  {
    name: 'lost nodes',
    steps: [
      addThird,
      onThird('tolerates'),
      onThird('brief', { tolerations: brief }),
      showThird,
      loseThird,
      untilRemoved(PODS, 'brief'),
      showThird,
      step('the kubelet of n3 starts again', ({ heartbeats }) => heartbeats.add('n3')),
      step('wait for two heartbeats', () => sleep(12_000)),
      showThird,
      removeThird,
      untilRemoved(PODS, 'tolerates'),
    ],
  },
];
