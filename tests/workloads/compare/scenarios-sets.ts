/** StatefulSets and DaemonSets. */
import { NODES } from '@podwright/kube-client';
import { BROKEN_IMAGE } from '../fake-kubelet.fixture.ts';
import { DAEMON_SETS, STATEFUL_SETS } from './resources.ts';
import {
  create,
  deletePod,
  image,
  remove,
  type Scenario,
  setPodStatus,
  spec,
  step,
  template,
  untilRemoved,
} from './steps.ts';

const statefulSet = (name: string, more: object = {}) =>
  create(STATEFUL_SETS, name, {
    spec: {
      ...{ replicas: 3, serviceName: name, selector: { matchLabels: { app: name } }, template: template(name) },
      ...more,
    },
  });

const claims = [
  {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '' },
  },
];
const rolling = (value: object) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: value } });

const daemonSet = (name: string, more: object = {}) =>
  create(DAEMON_SETS, name, { spec: { selector: { matchLabels: { app: name } }, template: template(name), ...more } });

const patchNode = (body: object) =>
  step(`patch the node n2: ${JSON.stringify(body)}`, ({ client }) =>
    client.patch(NODES, { name: 'n2' }, { type: 'strategic', body }),
  );

const fail = (labelSelector: string) =>
  setPodStatus(labelSelector, { phase: 'Failed', reason: 'Evicted', message: 'the node was low on memory' });

export const SETS: Scenario[] = [
  {
    name: 'stateful sets: order, update, partition',
    steps: [
      statefulSet('db'),
      image(STATEFUL_SETS, 'db', 'v2'),
      spec(STATEFUL_SETS, 'db', rolling({ partition: 2 })),
      image(STATEFUL_SETS, 'db', 'v3'),
      deletePod('app=db'),
      spec(STATEFUL_SETS, 'db', rolling({ partition: 0 })),
      image(STATEFUL_SETS, 'db', 'v2'),
      spec(STATEFUL_SETS, 'db', { replicas: 1 }),
      spec(STATEFUL_SETS, 'db', { replicas: 4, minReadySeconds: 1 }),
      fail('app=db'),
      remove(STATEFUL_SETS, 'db', 'Foreground'),
    ],
  },
  {
    name: 'stateful sets: parallel, broken, on delete, history',
    steps: [
      statefulSet('par', { podManagementPolicy: 'Parallel', revisionHistoryLimit: 1, ordinals: { start: 3 } }),
      image(STATEFUL_SETS, 'par', BROKEN_IMAGE),
      spec(STATEFUL_SETS, 'par', { replicas: 5 }),
      image(STATEFUL_SETS, 'par', 'v3'),
      deletePod('app=par'),
      spec(STATEFUL_SETS, 'par', { updateStrategy: { type: 'OnDelete', rollingUpdate: null } }),
      image(STATEFUL_SETS, 'par', 'v4'),
      deletePod('app=par'),
      spec(STATEFUL_SETS, 'par', { replicas: 0 }),
      statefulSet('most', { podManagementPolicy: 'Parallel', ...rolling({ maxUnavailable: 2 }) }),
      image(STATEFUL_SETS, 'most', 'v2'),
      statefulSet('sick', { template: template('sick', { image: BROKEN_IMAGE }) }),
      spec(STATEFUL_SETS, 'sick', { replicas: 1 }),
      remove(STATEFUL_SETS, 'sick', 'Orphan'),
    ],
  },
  {
    name: 'stateful sets: claims',
    steps: [
      statefulSet('vol', {
        replicas: 2,
        volumeClaimTemplates: claims,
        persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
      }),
      spec(STATEFUL_SETS, 'vol', { replicas: 1 }),
      spec(STATEFUL_SETS, 'vol', {
        persistentVolumeClaimRetentionPolicy: { whenScaled: 'Retain', whenDeleted: 'Delete' },
      }),
      spec(STATEFUL_SETS, 'vol', { replicas: 2 }),
      remove(STATEFUL_SETS, 'vol'),
      untilRemoved(STATEFUL_SETS, 'vol'),
    ],
  },
  {
    name: 'daemon sets',
    steps: [
      daemonSet('agent'),
      image(DAEMON_SETS, 'agent', 'v2'),
      spec(DAEMON_SETS, 'agent', rolling({ maxSurge: 1, maxUnavailable: 0 })),
      image(DAEMON_SETS, 'agent', 'v3'),
      image(DAEMON_SETS, 'agent', BROKEN_IMAGE),
      image(DAEMON_SETS, 'agent', 'v3'),
      spec(DAEMON_SETS, 'agent', { updateStrategy: { type: 'OnDelete', rollingUpdate: null } }),
      image(DAEMON_SETS, 'agent', 'v4'),
      deletePod('app=agent'),
      fail('app=agent'),
      remove(DAEMON_SETS, 'agent', 'Foreground'),
    ],
  },
  {
    name: 'daemon sets: nodes',
    steps: [
      daemonSet('picky', { template: template('picky', { spec: { nodeSelector: { disk: 'fast' } } }) }),
      patchNode({ metadata: { labels: { disk: 'fast' } } }),
      patchNode({ spec: { taints: [{ key: 'own', value: 'x', effect: 'NoSchedule' }] } }),
      daemonSet('all', { template: template('all'), revisionHistoryLimit: 1 }),
      patchNode({ spec: { taints: [{ key: 'own', value: 'x', effect: 'NoExecute' }] } }),
      patchNode({ spec: { taints: null } }),
      patchNode({ spec: { unschedulable: true } }),
      patchNode({ spec: { unschedulable: null } }),
      patchNode({ metadata: { labels: { disk: null } } }),
      ...['v2', 'v3', 'v4'].map((one) => image(DAEMON_SETS, 'all', one)),
      remove(DAEMON_SETS, 'all', 'Orphan'),
      daemonSet('all', { template: template('all', { image: 'v4' }) }),
    ],
  },
];
