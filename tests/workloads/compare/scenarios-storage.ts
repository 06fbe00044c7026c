/** PersistentVolumeClaims and PersistentVolumes, their protection, ephemeral volumes, and ResourceClaims. */
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  RESOURCE_CLAIMS,
  STORAGE_CLASSES,
} from '@podwright/kube-client';
import { CLAIM_TEMPLATES } from './resources.ts';
import {
  create,
  createIn,
  patch,
  remove,
  type Scenario,
  type Step,
  setPodStatus,
  template,
  untilRemoved,
} from './steps.ts';

const DRIVER = 'disk.example.com';

const volume = (name: string, size: string, more: object | ((namespace: string) => object) = {}): Step =>
  createIn(PERSISTENT_VOLUMES, name, (namespace) => {
    const { labels, ...fields } = (typeof more === 'function' ? more(namespace) : more) as { labels?: object };
    const source = { csi: { driver: DRIVER, volumeHandle: name } };
    const fixed = {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: size },
      storageClassName: `${namespace}-none`,
    };
    return {
      ...(labels !== undefined && { metadata: { labels } }),
      spec: { ...fixed, ...source, ...fields },
    };
  });

const claim = (name: string, size: string, more: object | ((namespace: string) => object) = {}): Step =>
  createIn(PERSISTENT_VOLUME_CLAIMS, name, (namespace) => ({
    spec: {
      ...{ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: size } } },
      storageClassName: `${namespace}-none`,
      ...(typeof more === 'function' ? more(namespace) : more),
    },
  }));

const storageClass = (name: string, more: object): Step =>
  create(STORAGE_CLASSES, name, { provisioner: 'kubernetes.io/no-provisioner', ...more });

const podWith = (name: string, volumes: object[], more: object = {}): Step =>
  create(PODS, name, { spec: { ...template(name).spec, volumes, ...more } }, { labels: { app: name } });
const ofClaim = (claimName: string) => ({ name: 'v', persistentVolumeClaim: { claimName } });

/**
 * How long objects must not have changed before they are compared: longer than upstream's period for binding claims (`control-planes.ts`).
 */
const restMs = 3000;

export const STORAGE: Scenario[] = [
  {
    name: 'volumes: binding',
    restMs,
    steps: [
      claim('waits', '1Gi'),
      volume('big', '5Gi'),
      volume('small', '1Gi'),
      volume('small-too', '1Gi'),
      claim('large', '3Gi'),
      claim('huge', '9Gi'),
      claim('many', '1Gi', { accessModes: ['ReadWriteMany'] }),
      volume('labelled', '1Gi', { labels: { speed: 'fast' } }),
      claim('picky', '1Gi', { selector: { matchLabels: { speed: 'fast' } } }),
      claim('block', '1Gi', { volumeMode: 'Block' }),
      claim('named', '1Gi', (namespace) => ({ volumeName: `${namespace}-later` })),
      volume('later', '2Gi'),
      volume('kept-for', '1Gi', (namespace) => ({ claimRef: { namespace, name: 'expected' } })),
      claim('expected', '1Gi'),
      claim('wrong-name', '1Gi', (namespace) => ({ volumeName: `${namespace}-later` })),
      claim('classless', '1Gi', { storageClassName: '' }),
      claim('no-default', '1Gi', { storageClassName: undefined }),
    ],
  },
  {
    name: 'volumes: release and protection',
    restMs,
    steps: [
      volume('kept', '1Gi', { persistentVolumeReclaimPolicy: 'Retain' }),
      claim('kept', '1Gi'),
      podWith('user', [ofClaim('kept')]),
      remove(PERSISTENT_VOLUME_CLAIMS, 'kept'),
      remove(PERSISTENT_VOLUMES, 'kept'),
      remove(PODS, 'user'),
      untilRemoved(PERSISTENT_VOLUME_CLAIMS, 'kept'),
      volume('deleted', '1Gi', { persistentVolumeReclaimPolicy: 'Delete' }),
      claim('deleted', '1Gi'),
      remove(PERSISTENT_VOLUME_CLAIMS, 'deleted'),
      volume('lost', '1Gi'),
      claim('lost', '1Gi'),
      patch(PERSISTENT_VOLUMES, 'lost', { metadata: { finalizers: null } }, 'merge'),
      remove(PERSISTENT_VOLUMES, 'lost'),
    ],
  },
  {
    name: 'volumes: classes',
    restMs,
    steps: [
      storageClass('wait', { volumeBindingMode: 'WaitForFirstConsumer' }),
      storageClass('other', { provisioner: DRIVER }),
      claim('waits', '1Gi', (namespace) => ({ storageClassName: `${namespace}-wait` })),
      claim('other', '1Gi', (namespace) => ({ storageClassName: `${namespace}-other` })),
      claim('unknown', '1Gi', (namespace) => ({ storageClassName: `${namespace}-absent` })),
      volume('for-wait', '1Gi', (namespace) => ({ storageClassName: `${namespace}-wait` })),
      podWith('user', [ofClaim('waits')]),
      patch(PERSISTENT_VOLUME_CLAIMS, 'waits', {
        metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'n1' } },
      }),
      remove(STORAGE_CLASSES, 'wait'),
      remove(STORAGE_CLASSES, 'other'),
    ],
  },
  {
    name: 'ephemeral volumes',
    steps: [
      podWith('scratch', [
        {
          name: 'data',
          ephemeral: {
            volumeClaimTemplate: {
              metadata: { labels: { from: 'pod' } },
              spec: {
                accessModes: ['ReadWriteOnce'],
                resources: { requests: { storage: '1Gi' } },
                storageClassName: '',
              },
            },
          },
        },
      ]),
      claim('taken-data', '1Gi'),
      podWith('taken', [
        {
          name: 'data',
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            },
          },
        },
      ]),
      remove(PODS, 'scratch'),
      untilRemoved(PERSISTENT_VOLUME_CLAIMS, 'scratch-data'),
    ],
  },
  {
    name: 'claims of devices',
    steps: [
      create(CLAIM_TEMPLATES, 'gpu', {
        spec: {
          metadata: { labels: { of: 'template' } },
          spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu.example.com' } }] } },
        },
      }),
      podWith('render', [], {
        resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpu' }],
        containers: [{ name: 'main', image: 'v1', command: ['run'], resources: { claims: [{ name: 'gpu' }] } }],
      }),
      setPodStatus('app=render', { phase: 'Succeeded' }),
      remove(PODS, 'render'),
      podWith('early', [], { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'absent' }] }),
      create(CLAIM_TEMPLATES, 'absent', {
        spec: { spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu.example.com' } }] } } },
      }),
      create(RESOURCE_CLAIMS, 'shared', {
        spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu.example.com' } }] } },
      }),
      podWith('sharer', [], { resourceClaims: [{ name: 'gpu', resourceClaimName: 'shared' }] }),
      remove(PODS, 'sharer'),
    ],
  },
];
