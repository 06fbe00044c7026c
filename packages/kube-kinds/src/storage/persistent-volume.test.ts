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
import { PERSISTENT_VOLUME } from './persistent-volume.ts';

const BASE = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'pv' },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
};
const withSpec = (spec: object, metadata: object = {}) => changed(BASE, { spec, metadata } as never);

test('a volume gets defaults for its spec and source, and a status with its phase transition time', () => {
  const { spec, status } = created(PERSISTENT_VOLUME, BASE);
  assert.deepEqual(spec, {
    ...BASE.spec,
    hostPath: { path: '/data', type: '' },
    persistentVolumeReclaimPolicy: 'Retain',
    volumeMode: 'Filesystem',
  });
  assert.deepEqual(status, { phase: 'Pending', lastPhaseTransitionTime: '2026-01-02T03:04:05Z' });
  const sources = {
    hostPath: undefined,
    rbd: { monitors: ['m'], image: 'i' },
    azureDisk: { diskName: 'd', diskURI: 'u', fsType: '' },
    iscsi: { targetPortal: 't', iqn: 'iqn.2001-04.com.example:x', lun: 0 },
    scaleIO: { gateway: 'g', system: 's', secretRef: {}, volumeName: 'v' },
  };
  const filled = decoded(PERSISTENT_VOLUME, withSpec(sources)).spec as Record<string, Record<string, unknown>>;
  assert.deepEqual([filled.rbd?.pool, filled.rbd?.user, filled.rbd?.keyring], ['rbd', 'admin', '/etc/ceph/keyring']);
  assert.deepEqual(filled.azureDisk, {
    diskName: 'd',
    diskURI: 'u',
    cachingMode: 'ReadWrite',
    fsType: '',
    readOnly: false,
    kind: 'Shared',
  });
  assert.equal(filled.iscsi?.iscsiInterface, 'default');
  assert.deepEqual([filled.scaleIO?.storageMode, filled.scaleIO?.fsType], ['ThinProvisioned', 'xfs']);
  const rounded = decoded(PERSISTENT_VOLUME, withSpec({ capacity: { storage: '1500u' } })).spec;
  assert.deepEqual((rounded as { capacity: unknown }).capacity, { storage: '2m' });
});

test('invalid volume specs have upstream’s errors', () => {
  const check = (spec: object, ...errors: string[]) =>
    assert.deepEqual(createErrors(PERSISTENT_VOLUME, withSpec(spec)), errors);
  check({});
  check({ accessModes: undefined }, 'spec.accessModes: Required value');
  const modes = 'supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"';
  check({ accessModes: ['RW'] }, `spec.accessModes: Unsupported value: "RW": ${modes}`);
  check(
    { accessModes: ['ReadWriteOnce', 'ReadWriteOncePod'] },
    'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
  );
  check(
    { capacity: undefined },
    'spec.capacity: Required value',
    'spec.capacity: Unsupported value: null: supported values: "storage"',
  );
  check({ capacity: { storage: '0' } }, 'spec.capacity[storage]: Invalid value: "0": must be greater than zero');
  check(
    { capacity: { storage: '-1' } },
    'spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
    'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
  );
  check(
    { persistentVolumeReclaimPolicy: 'Keep' },
    'spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"',
  );
  check({ volumeMode: 'Raw' }, 'spec.volumeMode: Unsupported value: "Raw": supported values: "Block", "Filesystem"');
  check({ hostPath: undefined }, 'spec: Required value: must specify a volume type');
  check({ nfs: { server: 's', path: '/p' } }, 'spec.nfs: Forbidden: may not specify more than 1 volume type');
  check(
    { hostPath: { path: '/a/..' }, persistentVolumeReclaimPolicy: 'Recycle' },
    `spec.hostPath.path: Invalid value: "/a/..": must not contain '..'`,
    "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
  );
  check(
    { volumeAttributesClassName: '' },
    ...[
      'spec.volumeAttributesClassName: Required value: an empty string is disallowed',
      'spec.csi: Required value: has to be specified when using volumeAttributesClassName',
    ],
  );
  check(
    { nodeAffinity: { required: { nodeSelectorTerms: [] } } },
    'spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term',
  );
});

test('invalid volume sources have upstream’s errors', () => {
  const check = (source: object, ...errors: string[]) =>
    assert.deepEqual(createErrors(PERSISTENT_VOLUME, withSpec({ hostPath: undefined, ...source })), errors);
  check({ hostPath: { path: '' } }, 'spec.hostPath.path: Required value');
  check({ local: { path: '/x' } }, 'spec.nodeAffinity: Required value: Local volume requires node affinity');
  check(
    { nfs: { server: '', path: 'p' } },
    'spec.nfs.server: Required value',
    'spec.nfs.path: Invalid value: "p": must be an absolute path',
  );
  check(
    { csi: { driver: 'a_b', volumeHandle: '', nodePublishSecretRef: { name: 's' } } },
    `spec.csi.driver: Invalid value: "a_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    'spec.csi.volumeHandle: Required value',
    'spec.csi.nodePublishSecretRef.namespace: Required value',
  );
  check({ csi: { driver: 'Example.com', volumeHandle: 'v' } });
  check(
    { iscsi: { targetPortal: '', iqn: 'bad', lun: 300, chapAuthSession: true } },
    'spec.iscsi.targetPortal: Required value',
    'spec.iscsi.iqn: Invalid value: "bad": must be valid format',
    'spec.iscsi.lun: Invalid value: 300: must be between 0 and 255, inclusive',
    'spec.iscsi.secretRef: Required value',
  );
  check({ iscsi: { targetPortal: 't', iqn: 'iqn.2001-04.com.example:storage.disk1', lun: 1 } });
  check(
    { iscsi: { targetPortal: 't', iqn: 'iqn.2001-04.com.example:x', lun: 1, secretRef: {} } },
    'spec.iscsi.secretRef.name: Required value',
  );
  const long = 'iscsi-initiator-names-need-a-short-name-of-the-volume-and-portal';
  assert.match(
    createErrors(
      PERSISTENT_VOLUME,
      withSpec({
        hostPath: undefined,
        iscsi: { targetPortal: long, iqn: 'iqn.2001-04.com.example:x', lun: 1, initiatorName: 'bad' },
      }),
    ).join(),
    /^spec.iscsi.targetportal: .*Total length of .*,spec.iscsi.initiatorname: Invalid value: "bad": must be valid format$/,
  );
  check({ cinder: { volumeID: 'v', secretRef: { name: 's' } } }, 'spec.cinder.secretRef.namespace: Required value');
  check({ quobyte: { registry: 'a:1', volume: 'v', tenant: 'x'.repeat(64) } });
  check(
    { quobyte: { registry: 'a:1', volume: 'v', tenant: 'x'.repeat(65) } },
    'spec.quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters',
  );
  check({ fc: { targetWWNs: ['w'] } }, 'spec.fc.lun: Required value: lun is required if targetWWNs is specified');
  check(
    { gcePersistentDisk: { pdName: '', partition: 256 } },
    ...[
      'spec.persistentDisk.pdName: Required value',
      'spec.persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive',
    ],
  );
  check(
    { flexVolume: { driver: 'd', options: { 'x.k8s.io/a': '1', 'example.com/b': '2' } } },
    'spec.flexVolume.options[x.k8s.io/a]: Invalid value: "x.k8s.io/a": kubernetes.io and k8s.io namespaces are reserved',
  );
  check(
    { azureDisk: { diskName: 'd', diskURI: 'x', kind: 'Managed' } },
    'spec.azureDisk.diskURI: Unsupported value: "x": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
  );
  check(
    { quobyte: { registry: 'a:1,b', volume: '' } },
    'spec.quobyte.registry: Invalid value: "a:1,b": must be a host:port pair or multiple pairs separated by commas',
    'spec.quobyte.volume: Required value',
  );
  check(
    { cephfs: { monitors: ['m'] }, rbd: { monitors: [], image: 'i' } },
    ...['spec.rbd.monitors: Required value', 'spec.cephFS: Forbidden: may not specify more than 1 volume type'],
  );
});

test('mount options in an annotation require a volume that supports them', () => {
  const key = 'volume.beta.kubernetes.io/mount-options';
  const annotations = { [key]: 'ro' };
  assert.deepEqual(createErrors(PERSISTENT_VOLUME, withSpec({}, { annotations })), [
    `metadata.annotations.${key}: Forbidden: may not specify mount options for this volume type`,
  ]);
  const nfs = { hostPath: undefined, nfs: { server: 's', path: '/p' } };
  assert.deepEqual(createErrors(PERSISTENT_VOLUME, withSpec(nfs, { annotations })), []);
});

test('a volume’s source, mode and node affinity are immutable', () => {
  const check = (spec: object, old: object, ...errors: string[]) =>
    assert.deepEqual(updateErrors(PERSISTENT_VOLUME, withSpec(spec), withSpec(old)), errors);
  check({ capacity: { storage: '2Gi' }, persistentVolumeReclaimPolicy: 'Delete' }, {});
  check(
    { hostPath: { path: '/other' } },
    {},
    [
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation',
      '@@ -1,6 +1,6 @@',
      ' {',
      '  "hostPath": {',
      '-  "path": "/data",',
      '+  "path": "/other",',
      '   "type": ""',
      '  }',
      ' }',
      '',
    ].join('\n'),
  );
  check({ volumeMode: 'Block' }, {}, 'volumeMode: Invalid value: "Block": field is immutable');
  const affinity = (key: string) => ({
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: ['a'] }] }] } },
  });
  check(affinity('x'), {});
  check(affinity('topology.kubernetes.io/zone'), affinity('failure-domain.beta.kubernetes.io/zone'));
  const errors = updateErrors(PERSISTENT_VOLUME, withSpec(affinity('y')), withSpec(affinity('x')));
  assert.match(errors.join(), /^nodeAffinity: .*field is immutable, except for updating from beta label to GA$/);
  const csi = (more: object) => ({ hostPath: undefined, csi: { driver: 'd', volumeHandle: 'v', ...more } });
  const secret = { controllerExpandSecretRef: { name: 'a', namespace: 'b' } };
  check(csi(secret), csi({}));
  assert.equal(updateErrors(PERSISTENT_VOLUME, withSpec(csi({})), withSpec(csi(secret))).length, 1);
  check(
    csi({}),
    { ...csi({}), volumeAttributesClassName: 'gold' },
    'spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden',
  );
});

test('a status update preserves the spec, and sets a new phase’s transition time', () => {
  const old = { ...BASE, status: { phase: 'Available', lastPhaseTransitionTime: '2020-01-01T00:00:00Z' } };
  const timeAfter = (status: object) => {
    const object = { ...withSpec({ volumeMode: 'Block' }, { resourceVersion: '5' }), status };
    const result = subresourceUpdate(PERSISTENT_VOLUME, 'status', { object, old });
    assert.deepEqual(result.errors, []);
    assert.equal((result.object.spec as { volumeMode: string }).volumeMode, 'Filesystem');
    return (result.object.status as { lastPhaseTransitionTime: string }).lastPhaseTransitionTime;
  };
  assert.equal(timeAfter({ phase: 'Available' }), '2020-01-01T00:00:00Z');
  assert.ok(timeAfter({ phase: 'Bound' }) > '2026');
  assert.ok(timeAfter({ phase: 'Bound', lastPhaseTransitionTime: '2020-01-01T00:00:00Z' }) > '2026');
  const given = '2021-01-01T00:00:00Z';
  assert.equal(timeAfter({ phase: 'Bound', lastPhaseTransitionTime: given }), given);
  const { errors } = subresourceUpdate(PERSISTENT_VOLUME, 'status', { object: old, old });
  assert.deepEqual(errors, ['resourceVersion: Required value']);
});

test('deprecated volume fields cause warnings', () => {
  const check = (spec: object, metadata: object, ...warnings: string[]) =>
    assert.deepEqual(
      PERSISTENT_VOLUME.warnings?.(decoded(PERSISTENT_VOLUME, withSpec(spec, metadata)), undefined),
      warnings,
    );
  check({}, {});
  check(
    { hostPath: undefined, rbd: { monitors: [], image: '' } },
    {},
    'spec.rbd: deprecated in v1.28, non-functional in v1.31+',
  );
  const key = 'volume.beta.kubernetes.io/storage-class';
  check(
    {},
    { annotations: { [key]: 'x' } },
    `metadata.annotations[${key}]: deprecated since v1.8; use "storageClassName" attribute instead`,
  );
  const terms = [{ matchExpressions: [{ key: 'beta.kubernetes.io/os', operator: 'Exists' }] }];
  check(
    { nodeAffinity: { required: { nodeSelectorTerms: terms } } },
    {},
    'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead',
  );
});
