import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, createErrors, decoded, updateErrors } from '../strategy-checks.fixture.ts';
import { STORAGE_CLASS } from './storage-class.ts';
import { VOLUME_ATTRIBUTES_CLASS } from './volume-attributes-class.ts';

const CLASS = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'a' },
  provisioner: 'example.com/p',
};

test('a storage class defaults to deleting volumes and binding immediately', () => {
  const { reclaimPolicy, volumeBindingMode } = decoded(STORAGE_CLASS, CLASS);
  assert.deepEqual([reclaimPolicy, volumeBindingMode], ['Delete', 'Immediate']);
});

test('invalid storage classes have upstream’s errors', () => {
  const check = (changes: object, ...errors: string[]) =>
    assert.deepEqual(createErrors(STORAGE_CLASS, changed(CLASS, changes as never)), errors);
  check({ provisioner: 'Example.com/P' });
  check({ provisioner: '' }, 'provisioner: Required value');
  assert.match(
    createErrors(STORAGE_CLASS, { ...CLASS, provisioner: 'a/' })[0]!,
    /^provisioner: Invalid value: "a\/": name part must be non-empty$/,
  );
  check(
    { reclaimPolicy: 'Recycle' },
    'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
  );
  check({ reclaimPolicy: '' });
  check(
    { volumeBindingMode: '' },
    'volumeBindingMode: Unsupported value: "": supported values: "Immediate", "WaitForFirstConsumer"',
  );
  check({ parameters: { '': 'x' } }, 'parameters: Invalid value: "": field can not be empty.');
  check({ parameters: { a: 'x'.repeat(256 * 1024) } }, 'parameters: Too long: may not be more than 262144 bytes');
  const many = Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`k${index}`, '']));
  check({ parameters: many }, 'parameters: Too long: may not be more than 512 bytes');
});

test('topologies have distinct keys and values, and no duplicates', () => {
  const check = (terms: object[], ...errors: string[]) =>
    assert.deepEqual(
      createErrors(STORAGE_CLASS, {
        ...CLASS,
        allowedTopologies: terms.map((matchLabelExpressions) => ({ matchLabelExpressions })),
      }),
      errors,
    );
  const host = (...values: string[]) => ({ key: 'kubernetes.io/hostname', values });
  check([[host('a')], [host('b')]]);
  check([[host('a', 'b')], [host('a', 'c')]]);
  check([[host()]], 'allowedTopologies[0].matchLabelExpressions[0].values: Required value');
  check([[host('a', 'a')]], 'allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"');
  check(
    [[host('a'), host('b')]],
    'allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "kubernetes.io/hostname"',
  );
  check([[host('a', 'b')], [host('b', 'a')]], 'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""');
  check([[]], 'allowedTopologies[0].matchLabelExpressions: Duplicate value: ""');
});

test('a storage class’s provisioner, parameters and policies are immutable', () => {
  const check = (changes: object, ...errors: string[]) =>
    assert.deepEqual(updateErrors(STORAGE_CLASS, { ...CLASS, ...changes }, CLASS), errors);
  check({ allowVolumeExpansion: true });
  check({ provisioner: 'q' }, 'provisioner: Invalid value: "q": field is immutable');
  check({ parameters: { a: 'b' } }, 'parameters: Invalid value: {"a":"b"}: field is immutable');
  check({ reclaimPolicy: 'Retain' }, 'reclaimPolicy: Invalid value: "Retain": field is immutable');
  check(
    { volumeBindingMode: 'WaitForFirstConsumer' },
    'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
  );
});

test('a volume attributes class requires parameters, and is immutable', () => {
  const base = {
    ...CLASS,
    kind: 'VolumeAttributesClass',
    provisioner: undefined,
    driverName: 'd',
    parameters: { a: 'b' },
  };
  const object = changed(base, { provisioner: undefined });
  assert.deepEqual(createErrors(VOLUME_ATTRIBUTES_CLASS, object), []);
  assert.deepEqual(createErrors(VOLUME_ATTRIBUTES_CLASS, changed(object, { parameters: undefined, driverName: '' })), [
    'driverName: Required value',
    'parameters: Required value: must contain at least one key/value pair',
  ]);
  assert.deepEqual(
    updateErrors(VOLUME_ATTRIBUTES_CLASS, { ...object, driverName: 'e', parameters: { a: 'c' } }, object),
    [
      'driverName: Forbidden: updates to driverName are forbidden.',
      'parameters: Forbidden: updates to parameters are forbidden.',
    ],
  );
});
