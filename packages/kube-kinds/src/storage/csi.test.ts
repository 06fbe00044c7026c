import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changed,
  created,
  createErrors,
  decoded,
  subresourceUpdate,
  updateErrors,
} from '../strategy-checks.fixture.ts';
import { CSI_DRIVER } from './csi-driver.ts';
import { CSI_NODE } from './csi-node.ts';
import { CSI_STORAGE_CAPACITY } from './csi-storage-capacity.ts';
import { VOLUME_ATTACHMENT } from './volume-attachment.ts';

const base = (kind: string, more: object) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind,
  metadata: { name: 'a' },
  ...more,
});
const DRIVER = base('CSIDriver', { spec: {} });

test('a driver gets defaults, and alpha fields are dropped', () => {
  assert.deepEqual(
    created(CSI_DRIVER, changed(DRIVER, { spec: { preventPodSchedulingIfMissing: true, podInfoOnMount: true } })).spec,
    {
      attachRequired: true,
      podInfoOnMount: true,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      volumeLifecycleModes: ['Persistent'],
      requiresRepublish: false,
      seLinuxMount: false,
    },
  );
});

test('invalid drivers have upstream’s errors', () => {
  const check = (spec: object, ...errors: string[]) =>
    assert.deepEqual(createErrors(CSI_DRIVER, { ...DRIVER, spec }), errors);
  check({});
  check(
    { fsGroupPolicy: 'x' },
    'spec.fsGroupPolicy: Unsupported value: "x": supported values: "File", "None", "ReadWriteOnceWithFSType"',
  );
  check(
    {
      tokenRequests: [
        { audience: 'a', expirationSeconds: 1 },
        { audience: 'a' },
        { audience: 'b', expirationSeconds: 2 ** 32 + 1 },
      ],
    },
    'spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
    'spec.tokenRequests[1].audience: Duplicate value: "a"',
    'spec.tokenRequests[2].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
  );
  check(
    { volumeLifecycleModes: ['x'] },
    'spec.volumeLifecycleModes: Unsupported value: "x": supported values: "Persistent", "Ephemeral"',
  );
  check(
    { nodeAllocatableUpdatePeriodSeconds: 9 },
    'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds',
  );
  check(
    { serviceAccountTokenInSecrets: true },
    'spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified',
  );
});

test('a driver’s attachment settings and modes are immutable', () => {
  const check = (spec: object, ...errors: string[]) =>
    assert.deepEqual(updateErrors(CSI_DRIVER, { ...DRIVER, spec }, DRIVER), errors);
  check({ podInfoOnMount: true });
  check({ attachRequired: false }, 'spec.attachedRequired: Invalid value: false: field is immutable');
  check(
    { volumeLifecycleModes: ['Ephemeral'] },
    'spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable',
  );
});

test('changing token requests of a driver with tokens in attributes causes a warning', () => {
  const driver = decoded(CSI_DRIVER, { ...DRIVER, spec: { tokenRequests: [{ audience: 'a' }] } });
  const secret = decoded(CSI_DRIVER, {
    ...DRIVER,
    spec: { tokenRequests: [{ audience: 'a' }], serviceAccountTokenInSecrets: false },
  });
  const count = (...[object, old]: Parameters<NonNullable<typeof CSI_DRIVER.warnings>>) =>
    CSI_DRIVER.warnings?.(object, old).length;
  assert.deepEqual(
    [
      count(driver, undefined),
      count(driver, driver),
      count(driver, decoded(CSI_DRIVER, DRIVER)),
      count(secret, undefined),
    ],
    [1, 0, 1, 0],
  );
});

test('a node’s drivers are distinct, and only their volume limits can change', () => {
  const node = (...drivers: object[]) => base('CSINode', { spec: { drivers } });
  const driver = { name: 'd', nodeID: 'n', topologyKeys: ['a'] };
  assert.deepEqual(createErrors(CSI_NODE, node(driver)), []);
  assert.deepEqual(
    createErrors(
      CSI_NODE,
      node(driver, { ...driver, nodeID: '', topologyKeys: ['a', 'a'], allocatable: { count: -1 } }),
    ),
    [
      'spec.drivers[1].nodeID: Required value',
      'spec.drivers[1].allocatable.count: Invalid value: -1: must be greater than or equal to 0',
      'spec.drivers[1].name: Duplicate value: "d"',
      'spec.drivers[1]: Duplicate value: "a"',
    ],
  );
  assert.deepEqual(createErrors(CSI_NODE, node({ ...driver, nodeID: 'x'.repeat(257) })).length, 1);
  assert.deepEqual(updateErrors(CSI_NODE, node({ ...driver, allocatable: { count: 2 } }), node(driver)), []);
  assert.deepEqual(updateErrors(CSI_NODE, node(), node(driver)), []);
  assert.deepEqual(updateErrors(CSI_NODE, node({ ...driver, nodeID: 'm' }), node(driver)), [
    'spec.drivers: Invalid value: {"name":"d","nodeID":"m","topologyKeys":["a"]}: field is immutable',
  ]);
});

test('a capacity’s topology and class are immutable', () => {
  const capacity = base('CSIStorageCapacity', {
    metadata: { name: 'a', namespace: 'n' },
    storageClassName: 'c',
    capacity: '1Gi',
  });
  assert.deepEqual(createErrors(CSI_STORAGE_CAPACITY, capacity), []);
  assert.deepEqual(createErrors(CSI_STORAGE_CAPACITY, { ...capacity, capacity: '-1' }), [
    'capacity: Invalid value: "-1": must be greater than or equal to 0',
  ]);
  assert.deepEqual(updateErrors(CSI_STORAGE_CAPACITY, { ...capacity, capacity: '2Gi' }, capacity), []);
  assert.deepEqual(
    updateErrors(
      CSI_STORAGE_CAPACITY,
      { ...capacity, storageClassName: 'd', nodeTopology: { matchLabels: { a: 'b' } } },
      capacity,
    ),
    [
      'nodeTopology: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable',
      'storageClassName: Invalid value: "d": field is immutable',
    ],
  );
  const nodeTopology = { matchLabels: { 'beta.kubernetes.io/os': 'linux' } };
  assert.deepEqual(
    CSI_STORAGE_CAPACITY.warnings?.(decoded(CSI_STORAGE_CAPACITY, { ...capacity, nodeTopology }), undefined),
    ['nodeTopology.matchLabels.beta.kubernetes.io/os: deprecated since v1.14; use "kubernetes.io/os" instead'],
  );
});

const ATTACHMENT = base('VolumeAttachment', {
  spec: { attacher: 'd', nodeName: 'n', source: { persistentVolumeName: 'v' } },
});

test('an attachment has one source, and its spec is immutable', () => {
  const check = (spec: object, ...errors: string[]) =>
    assert.deepEqual(createErrors(VOLUME_ATTACHMENT, changed(ATTACHMENT, { spec } as never)), errors);
  check({});
  const one = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  check({ source: { persistentVolumeName: undefined } }, `spec.source: Required value: ${one}`);
  check({ source: { inlineVolumeSpec: {} } }, `spec.source: Forbidden: ${one}`);
  const csi = { driver: 'd', volumeHandle: 'h' };
  const inline = (inlineVolumeSpec: object) => ({ source: { persistentVolumeName: undefined, inlineVolumeSpec } });
  check(inline({ csi, accessModes: ['ReadWriteOnce'] }));
  check(
    inline({
      hostPath: { path: '/' },
      capacity: { storage: '1' },
      storageClassName: 'c',
      persistentVolumeReclaimPolicy: 'Delete',
    }),
    'spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes',
    'spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes',
    'spec.source.inlineVolumeSpec.accessModes: Required value',
    'spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes',
    'spec.source.inlineVolumeSpec.storageClassName: Forbidden: may not be specified in the context of inline volumes',
  );
  const errors = updateErrors(VOLUME_ATTACHMENT, changed(ATTACHMENT, { spec: { nodeName: 'm' } }), ATTACHMENT);
  assert.match(errors.join(), /^spec: Invalid value: .*: field is immutable$/);
});

test('an attachment’s status update changes only its status', () => {
  const object = changed(ATTACHMENT, {
    metadata: { labels: { a: 'b' } },
    spec: { nodeName: 'm' },
    status: { attached: true },
  });
  const result = subresourceUpdate(VOLUME_ATTACHMENT, 'status', { object, old: ATTACHMENT });
  assert.deepEqual(result, {
    object: { ...decoded(VOLUME_ATTACHMENT, ATTACHMENT), status: { attached: true } },
    errors: [],
  });
  const attachError = { message: 'x'.repeat(1025), errorCode: -1 };
  const wrong = { ...ATTACHMENT, status: { attached: false, attachError } };
  assert.deepEqual(subresourceUpdate(VOLUME_ATTACHMENT, 'status', { object: wrong, old: ATTACHMENT }).errors, [
    'status.attachError.message: Too long: may not be more than 262144 bytes',
    'status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive',
  ]);
});
