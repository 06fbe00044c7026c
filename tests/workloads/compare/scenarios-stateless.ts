/** Deployments, ReplicaSets, ReplicationControllers, Services and PodDisruptionBudgets. */
import { sleep } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import { PODS, SERVICES } from '@podwright/kube-client';
import { BROKEN_IMAGE } from '../fake-kubelet.fixture.ts';
import { BUDGETS, DEPLOYMENTS, ENDPOINTS, REPLICA_SETS, REPLICATION_CONTROLLERS } from './resources.ts';
import {
  create,
  deletePod,
  deployment,
  image,
  patch,
  remove,
  type Scenario,
  spec,
  step,
  template,
  withPod,
} from './steps.ts';

const service = (name: string, app: string | undefined, more: object = {}) =>
  create(
    SERVICES,
    name,
    { spec: { ports: [{ port: 80, targetPort: 8080 }], ...(app === undefined ? {} : { selector: { app } }), ...more } },
    { labels: { team: 'a' } },
  );

const evict = (labelSelector: string) =>
  withPod(`evict a pod of ${labelSelector}`, labelSelector, async ({ client, namespace }, { metadata: { name } }) => {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } };
    await client.create(PODS, eviction as KubeObject, { subresource: 'eviction', timeoutMs: 500 });
  });

const webSteps = [
  deployment('web'),
  image(DEPLOYMENTS, 'web', 'v2'),
  image(DEPLOYMENTS, 'web', 'v1'),
  spec(DEPLOYMENTS, 'web', { replicas: 5 }),
  spec(DEPLOYMENTS, 'web', { replicas: 1 }),
  spec(DEPLOYMENTS, 'web', { minReadySeconds: 1 }),
  patch(DEPLOYMENTS, 'web', { metadata: { annotations: { note: 'y' } } }),
  spec(DEPLOYMENTS, 'web', { replicas: 0 }),
  remove(DEPLOYMENTS, 'web'),
];

const pauseSteps = [
  deployment('still'),
  spec(DEPLOYMENTS, 'still', { paused: true }),
  image(DEPLOYMENTS, 'still', 'v2'),
  spec(DEPLOYMENTS, 'still', { replicas: 4 }),
  spec(DEPLOYMENTS, 'still', { paused: false }),
  deployment('asleep', { paused: true }),
  spec(DEPLOYMENTS, 'asleep', { paused: false }),
];

const serviceSteps = [
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
  spec(DEPLOYMENTS, 'web', { replicas: 0 }),
  remove(SERVICES, 'web'),
];

const mirrored = {
  subsets: [
    { addresses: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2', hostname: 'h' }], ports: [{ port: 80, name: 'a' }] },
    { notReadyAddresses: [{ ip: '192.0.2.3' }], ports: [{ port: 81, name: 'b' }] },
  ],
};

export const STATELESS: Scenario[] = [
  { name: 'rolling update, rollback, scale', steps: webSteps },
  {
    name: 'broken image',
    steps: [
      deployment('sick', { progressDeadlineSeconds: 4, replicas: 4 }),
      image(DEPLOYMENTS, 'sick', BROKEN_IMAGE),
      step('wait for the deadline', () => sleep(6000)),
      spec(DEPLOYMENTS, 'sick', { replicas: 8 }),
      image(DEPLOYMENTS, 'sick', 'v3'),
    ],
  },
  {
    name: 'recreate',
    steps: [
      deployment('again', { strategy: { type: 'Recreate' } }),
      image(DEPLOYMENTS, 'again', 'v2'),
      spec(DEPLOYMENTS, 'again', { replicas: 5 }),
    ],
  },
  { name: 'pause and resume', steps: pauseSteps },
  {
    name: 'history',
    steps: [
      deployment('past', { replicas: 1, revisionHistoryLimit: 1 }),
      ...['v2', 'v3', 'v4'].map((one) => image(DEPLOYMENTS, 'past', one)),
    ],
  },
  {
    name: 'adoption',
    steps: [
      deployment('kept'),
      remove(DEPLOYMENTS, 'kept', 'Orphan'),
      deployment('kept'),
      withPod('release a pod', 'app=kept', ({ client, namespace }, { metadata: { name } }) =>
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
      deletePod('app=set'),
      spec(REPLICA_SETS, 'set', { replicas: 0 }),
      create(REPLICATION_CONTROLLERS, 'old', {
        spec: { replicas: 2, selector: { app: 'old' }, template: template('old') },
      }),
      spec(REPLICATION_CONTROLLERS, 'old', { replicas: 3 }),
      create(REPLICA_SETS, 'refused', {
        spec: {
          replicas: 2,
          selector: { matchLabels: { app: 'refused' } },
          template: template('refused', { spec: { serviceAccountName: 'absent' } }),
        },
      }),
      remove(REPLICA_SETS, 'refused'),
    ],
  },
  { name: 'services', steps: serviceSteps },
  {
    name: 'mirrored endpoints',
    steps: [
      service('foreign', undefined),
      create(ENDPOINTS, 'foreign', mirrored, { labels: { l: 'm' }, annotations: { n: 'o' } }),
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
      spec(DEPLOYMENTS, 'safe', { replicas: 2 }),
      create(PODS, 'alone', { spec: template('alone').spec }, { labels: { app: 'alone' } }),
      create(BUDGETS, 'alone', { spec: { maxUnavailable: '20%', selector: { matchLabels: { app: 'alone' } } } }),
    ],
  },
  {
    name: 'evictions',
    steps: [
      deployment('kept', { replicas: 2 }),
      create(BUDGETS, 'kept', { spec: { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } } }),
      evict('app=kept'),
      patch(BUDGETS, 'kept', { spec: { minAvailable: 2 } }),
      evict('app=kept'),
      create(BUDGETS, 'second', { spec: { minAvailable: 0, selector: { matchLabels: { app: 'kept' } } } }),
      evict('app=kept'),
      deployment('sick', { replicas: 2 }, BROKEN_IMAGE),
      create(BUDGETS, 'sick', {
        spec: {
          minAvailable: 1,
          selector: { matchLabels: { app: 'sick' } },
          unhealthyPodEvictionPolicy: 'AlwaysAllow',
        },
      }),
      evict('app=sick'),
    ],
  },
];
