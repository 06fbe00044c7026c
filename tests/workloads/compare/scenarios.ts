/** What a user does with workloads, step by step. After each step the objects come to rest and are compared. */
import type { KubeObject, Resource } from '@podwright/kube-api';
import { type KubeClient, PODS, SERVICES } from '@podwright/kube-client';
import { BROKEN_IMAGE } from '../fake-kubelet.fixture.ts';
import { BUDGETS, DEPLOYMENTS, ENDPOINTS, REPLICA_SETS, REPLICATION_CONTROLLERS } from './snapshot.ts';

export type Place = { client: KubeClient; namespace: string };
export type Step = { name: string; run: (place: Place) => Promise<unknown> };
export type Scenario = { name: string; steps: Step[] };

const create = (resource: Resource, name: string, rest: object, metadata: object = {}): Step => ({
  name: `create ${resource.kind} ${name}`,
  run: ({ client, namespace }) =>
    client.create(resource, { metadata: { namespace, name, ...metadata }, ...rest } as KubeObject),
});
const patch = (resource: Resource, name: string, body: object): Step => ({
  name: `patch ${resource.kind} ${name} ${JSON.stringify(body)}`,
  run: ({ client, namespace }) => client.patch(resource, { namespace, name }, { type: 'strategic', body }),
});
const remove = (resource: Resource, name: string, propagationPolicy: 'Background' | 'Orphan' = 'Background'): Step => ({
  name: `delete ${resource.kind} ${name}`,
  run: ({ client, namespace }) => client.delete(resource, { namespace, name }, { propagationPolicy }),
});
/** Deletes or changes the first pod that matches. */
const withPod = (name: string, labelSelector: string, act: (place: Place, pod: string) => Promise<unknown>): Step => ({
  name,
  run: async (place) => {
    const { items } = await place.client.list(PODS, { namespace: place.namespace, labelSelector });
    return await act(place, items.map(({ metadata }) => metadata.name!).sort()[0]!);
  },
});

const container = (image: string, more: object = {}) => ({ name: 'main', image, ...more });
const template = (app: string, image = 'v1', more: object = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [container(image)], automountServiceAccountToken: false, ...more },
});
const deployment = (name: string, spec: object = {}, image = 'v1') =>
  create(
    DEPLOYMENTS,
    name,
    { spec: { replicas: 3, selector: { matchLabels: { app: name } }, template: template(name, image), ...spec } },
    { annotations: { note: 'x' } },
  );
const image = (name: string, value: string) =>
  patch(DEPLOYMENTS, name, { spec: { template: { spec: { containers: [container(value)] } } } });
const spec = (name: string, value: object) => patch(DEPLOYMENTS, name, { spec: value });

const service = (name: string, app: string | undefined, more: object = {}) =>
  create(
    SERVICES,
    name,
    { spec: { ports: [{ port: 80, targetPort: 8080 }], ...(app === undefined ? {} : { selector: { app } }), ...more } },
    { labels: { team: 'a' } },
  );

export const SCENARIOS: Scenario[] = [
  {
    name: 'rolling update, rollback, scale',
    steps: [
      deployment('web'),
      image('web', 'v2'),
      image('web', 'v1'),
      spec('web', { replicas: 5 }),
      spec('web', { replicas: 1 }),
      spec('web', { minReadySeconds: 1 }),
      patch(DEPLOYMENTS, 'web', { metadata: { annotations: { note: 'y' } } }),
      spec('web', { replicas: 0 }),
      remove(DEPLOYMENTS, 'web'),
    ],
  },
  {
    name: 'broken image',
    steps: [
      deployment('sick', { progressDeadlineSeconds: 4, replicas: 4 }),
      image('sick', BROKEN_IMAGE),
      { name: 'wait for the deadline', run: () => new Promise((resolve) => setTimeout(resolve, 6000)) },
      spec('sick', { replicas: 8 }),
      image('sick', 'v3'),
    ],
  },
  {
    name: 'recreate',
    steps: [
      deployment('again', { strategy: { type: 'Recreate' } }),
      image('again', 'v2'),
      spec('again', { replicas: 5 }),
    ],
  },
  {
    name: 'pause and resume',
    steps: [
      deployment('still'),
      spec('still', { paused: true }),
      image('still', 'v2'),
      spec('still', { replicas: 4 }),
      spec('still', { paused: false }),
      deployment('asleep', { paused: true }),
      spec('asleep', { paused: false }),
    ],
  },
  {
    name: 'history',
    steps: [
      deployment('past', { replicas: 1, revisionHistoryLimit: 1 }),
      ...['v2', 'v3', 'v4'].map((one) => image('past', one)),
    ],
  },
  {
    name: 'adoption',
    steps: [
      deployment('kept'),
      remove(DEPLOYMENTS, 'kept', 'Orphan'),
      deployment('kept'),
      withPod('release a pod', 'app=kept', ({ client, namespace }, name) =>
        client.patch(PODS, { namespace, name }, { type: 'strategic', body: { metadata: { labels: { app: 'free' } } } }),
      ),
      create(PODS, 'orphan', { spec: template('kept').spec }, { labels: { app: 'kept' } }),
    ],
  },
  {
    name: 'replica sets and replication controllers',
    steps: [
      create(REPLICA_SETS, 'set', {
        spec: { replicas: 2, selector: { matchLabels: { app: 'set' } }, template: template('set') },
      }),
      withPod('delete a pod', 'app=set', ({ client, namespace }, name) => client.delete(PODS, { namespace, name })),
      patch(REPLICA_SETS, 'set', { spec: { replicas: 0 } }),
      create(REPLICATION_CONTROLLERS, 'old', {
        spec: { replicas: 2, selector: { app: 'old' }, template: template('old') },
      }),
      patch(REPLICATION_CONTROLLERS, 'old', { spec: { replicas: 3 } }),
      create(REPLICA_SETS, 'refused', {
        spec: {
          replicas: 2,
          selector: { matchLabels: { app: 'refused' } },
          template: template('refused', 'v1', { serviceAccountName: 'absent' }),
        },
      }),
      remove(REPLICA_SETS, 'refused'),
    ],
  },
  {
    name: 'services',
    steps: [
      service('web', 'web'),
      deployment('web', { replicas: 2 }),
      service('headless', 'web', { clusterIP: 'None' }),
      service('bare', 'web', { clusterIP: 'None', ports: undefined }),
      service('unready', 'sick', { publishNotReadyAddresses: true }),
      deployment('sick', { replicas: 1 }, BROKEN_IMAGE),
      service('sick', 'sick'),
      service('close', 'web', { trafficDistribution: 'PreferSameZone' }),
      service('named', 'web', {
        ports: [
          { name: 'http', port: 80, targetPort: 'http' },
          { name: 'other', port: 81, targetPort: 9000, appProtocol: 'h2c' },
        ],
      }),
      patch(SERVICES, 'web', { metadata: { labels: { team: 'b', more: 'c' } } }),
      spec('web', { replicas: 0 }),
      remove(SERVICES, 'web'),
    ],
  },
  {
    name: 'mirrored endpoints',
    steps: [
      service('foreign', undefined),
      create(
        ENDPOINTS,
        'foreign',
        {
          subsets: [
            { addresses: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2', hostname: 'h' }], ports: [{ port: 80, name: 'a' }] },
            { notReadyAddresses: [{ ip: '192.0.2.3' }], ports: [{ port: 81, name: 'b' }] },
          ],
        },
        { labels: { l: 'm' }, annotations: { n: 'o' } },
      ),
      patch(ENDPOINTS, 'foreign', {
        subsets: [{ addresses: [{ ip: '192.0.2.9' }], ports: [{ port: 80, name: 'a' }] }],
      }),
      patch(SERVICES, 'foreign', { spec: { selector: { app: 'nothing' } } }),
    ],
  },
  {
    name: 'budgets',
    steps: [
      deployment('safe', { replicas: 4 }),
      create(BUDGETS, 'most', { spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'safe' } } } }),
      create(BUDGETS, 'half', { spec: { minAvailable: '50%', selector: { matchLabels: { app: 'safe' } } } }),
      create(BUDGETS, 'none', { spec: { minAvailable: 1, selector: { matchLabels: { app: 'nothing' } } } }),
      spec('safe', { replicas: 2 }),
      create(PODS, 'alone', { spec: template('alone').spec }, { labels: { app: 'alone' } }),
      create(BUDGETS, 'alone', { spec: { maxUnavailable: '20%', selector: { matchLabels: { app: 'alone' } } } }),
    ],
  },
];
