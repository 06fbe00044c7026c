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
import { PERSISTENT_VOLUME_CLAIM } from './persistent-volume-claim.ts';

const BASE = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'c', namespace: 'n' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};
const withSpec = (spec: object, more: object = {}) => changed(BASE, { spec, ...more } as never);
const specOf = (object: { [field: string]: unknown }) => object.spec as Record<string, unknown>;

test('a new claim is pending, with a volume mode and both forms of its data source', () => {
  const claim = created(PERSISTENT_VOLUME_CLAIM, { ...BASE, status: { phase: 'Bound' } });
  assert.deepEqual([claim.status, specOf(claim).volumeMode], [{ phase: 'Pending' }, 'Filesystem']);
  const sources = (spec: object) => {
    const { dataSource, dataSourceRef } = specOf(created(PERSISTENT_VOLUME_CLAIM, withSpec(spec)));
    return [dataSource, dataSourceRef];
  };
  const claimSource = { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'x' };
  assert.deepEqual(sources({ dataSource: claimSource }), [claimSource, claimSource]);
  const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'x' };
  assert.deepEqual(sources({ dataSourceRef: snapshot }), [snapshot, snapshot]);
  const other = { apiGroup: 'example.com', kind: 'Other', name: 'x' };
  assert.deepEqual(sources({ dataSource: other }), [undefined, undefined]);
  assert.deepEqual(sources({ dataSourceRef: other }), [other, other]);
  assert.deepEqual(sources({ dataSourceRef: { ...snapshot, namespace: 'elsewhere' } }), [undefined, undefined]);
});

test('an existing reference to another namespace is preserved, but not copied', () => {
  const reference = { apiGroup: 'example.com', kind: 'Other', name: 'x', namespace: 'elsewhere' };
  const claim = decoded(PERSISTENT_VOLUME_CLAIM, withSpec({ dataSourceRef: reference }));
  const { dataSource, dataSourceRef } = specOf(PERSISTENT_VOLUME_CLAIM.prepareForUpdate!(claim, claim));
  assert.deepEqual([dataSource, dataSourceRef], [undefined, reference]);
});

test('invalid claim specs have upstream’s errors', () => {
  const check = (spec: object, ...errors: string[]) =>
    assert.deepEqual(createErrors(PERSISTENT_VOLUME_CLAIM, withSpec(spec)), errors);
  check({});
  check({ accessModes: [] }, 'spec.accessModes: Required value: at least 1 access mode is required');
  check({ resources: undefined }, 'spec.resources[storage]: Required value');
  check(
    { resources: { requests: { storage: '-1Gi' } } },
    'spec.resources[storage]: Invalid value: "-1Gi": must be greater than zero',
  );
  check(
    { resources: { requests: { storage: '1500m' } } },
    'spec.resources[storage]: Invalid value: "1500m": must be an integer',
  );
  check({ storageClassName: '' });
  check({ volumeMode: 'x' }, 'spec.volumeMode: Unsupported value: "x": supported values: "Block", "Filesystem"');
  check(
    { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  );
  check(
    { dataSourceRef: { kind: 'Other', name: '' } },
    'spec.dataSource.name: Required value',
    `spec.dataSource: Invalid value: "Other": must be 'PersistentVolumeClaim' when referencing the default apiGroup`,
    'spec.dataSourceRef.name: Required value',
    `spec.dataSourceRef: Invalid value: "Other": must be 'PersistentVolumeClaim' when referencing the default apiGroup`,
  );
  const kinds = createErrors(PERSISTENT_VOLUME_CLAIM, withSpec({ dataSourceRef: { kind: '', name: 'a' } }));
  assert.ok(kinds.includes('spec.dataSourceRef.kind: Required value'));
  const claim = { kind: 'PersistentVolumeClaim', name: 'a' };
  check(
    { dataSource: claim, dataSourceRef: { ...claim, name: 'b' } },
    'spec: Invalid value: {}: must match dataSourceRef',
  );
});

const IMMUTABLE =
  /^spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ /;
const BOUND = { status: { phase: 'Bound', capacity: { storage: '1Gi' } } };

test('a spec is immutable, except for the fields that a bound claim may change', () => {
  const errors = (spec: object, old: object, more: object = BOUND) =>
    updateErrors(PERSISTENT_VOLUME_CLAIM, withSpec(spec, more), withSpec(old, more));
  const storage = (amount: string) => ({ resources: { requests: { storage: amount } } });
  assert.deepEqual(errors({}, {}), []);
  assert.deepEqual(errors(storage('2Gi'), {}), []);
  assert.deepEqual(errors(storage('1024Mi'), storage('1073741824'), {}), []);
  assert.match(errors(storage('2Gi'), {}, {}).join(), IMMUTABLE);
  assert.match(errors({ accessModes: ['ReadWriteMany'] }, {}).join(), IMMUTABLE);
  assert.deepEqual(errors({ volumeName: 'v' }, {}), []);
  assert.match(errors({ volumeName: 'v' }, { volumeName: 'w' }).join(), IMMUTABLE);
  assert.deepEqual(errors({ storageClassName: 'a' }, {}), []);
  assert.match(errors({ storageClassName: 'a' }, { storageClassName: '' }).join(), IMMUTABLE);
  assert.deepEqual(errors({ volumeAttributesClassName: 'a' }, {}), []);
  assert.match(errors({ volumeAttributesClassName: 'a' }, {}, {}).join(), IMMUTABLE);
  const [immutable, mode] = errors({ volumeMode: 'Block' }, {});
  assert.match(immutable!, IMMUTABLE);
  assert.equal(mode, 'volumeMode: Invalid value: "Block": field is immutable');
});

test('a request may shrink, but not below the volume’s capacity', () => {
  const storage = (amount: string) => withSpec({ resources: { requests: { storage: amount } } }, BOUND);
  assert.deepEqual(updateErrors(PERSISTENT_VOLUME_CLAIM, storage('2Gi'), storage('3Gi')), []);
  assert.deepEqual(updateErrors(PERSISTENT_VOLUME_CLAIM, storage('1Gi'), storage('3Gi')), [
    'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
  ]);
});

test('a class can move from the annotation to the spec, but the annotation cannot change', () => {
  const key = 'volume.beta.kubernetes.io/storage-class';
  const annotated = (name: string, spec: object = {}) =>
    changed(withSpec(spec), { metadata: { annotations: { [key]: name } } });
  assert.deepEqual(updateErrors(PERSISTENT_VOLUME_CLAIM, withSpec({ storageClassName: 'a' }), annotated('a')), []);
  assert.deepEqual(updateErrors(PERSISTENT_VOLUME_CLAIM, annotated('b'), annotated('a')), [
    `metadata.annotations.${key}: Invalid value: "b": field is immutable`,
  ]);
  const errors = updateErrors(PERSISTENT_VOLUME_CLAIM, annotated('a', { storageClassName: 'b' }), annotated('a'));
  assert.match(errors.join(), IMMUTABLE);
  assert.deepEqual(PERSISTENT_VOLUME_CLAIM.warnings?.(decoded(PERSISTENT_VOLUME_CLAIM, annotated('a')), undefined), [
    `metadata.annotations[${key}]: deprecated since v1.8; use "storageClassName" attribute instead`,
  ]);
});

test('an attributes class in effect cannot be removed', () => {
  const status = { ...BOUND.status, currentVolumeAttributesClassName: 'gold' };
  const check = (spec: object, message: string) =>
    assert.deepEqual(
      updateErrors(
        PERSISTENT_VOLUME_CLAIM,
        withSpec(spec, { status }),
        withSpec({ volumeAttributesClassName: 'gold' }, { status }),
      ),
      [
        `spec.volumeAttributesClassName: Forbidden: update to ${message} is forbidden when status.currentVolumeAttributesClassName is not nil`,
      ],
    );
  check({}, 'nil');
  check({ volumeAttributesClassName: '' }, 'empty string');
});

test('a status update preserves the spec, and its amounts and statuses are validated', () => {
  const check = (status: object, ...errors: string[]) => {
    const object = withSpec({ volumeName: 'x' }, { metadata: { resourceVersion: '1' }, status });
    const result = subresourceUpdate(PERSISTENT_VOLUME_CLAIM, 'status', { object, old: BASE });
    assert.deepEqual(result.errors, errors);
    assert.equal(specOf(result.object).volumeName, undefined);
  };
  check({ phase: 'Bound', capacity: { storage: '1Gi' } });
  check(
    { capacity: { storage: '-1' } },
    'status.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
  );
  check(
    { allocatedResources: { cpu: '1', storage: '1500m' } },
    'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
    'status.allocatedResources[storage]: Invalid value: "1500m": must be an integer',
  );
  check({ allocatedResourceStatuses: { storage: 'NodeResizePending', 'example.com/x': 'NodeResizePending' } });
  const statuses =
    '"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"';
  check(
    { allocatedResourceStatuses: { storage: 'x' } },
    `status.allocatedResourceStatuses: Unsupported value: "storage": supported values: ${statuses}`,
  );
});

test('fractional bytes cause warnings', () => {
  const object = decoded(PERSISTENT_VOLUME_CLAIM, withSpec({ resources: { limits: { storage: '1500m' } } }));
  assert.deepEqual(PERSISTENT_VOLUME_CLAIM.warnings?.(object, undefined), [
    'spec.resources.limits[storage]: fractional byte value "1500m" is invalid, must be an integer',
  ]);
});
