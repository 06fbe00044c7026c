import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameIsDnsSubdomain } from '@podwright/kube-kinds';
import { validateObjectMeta } from './object-meta-rules.ts';
import { validateObjectMetaUpdate } from './object-meta-update-rules.ts';

const VALID = { name: 'a', namespace: 'default' };

const texts = (errors: readonly { field: string; message: string }[]) =>
  errors.map(({ field, message }) => `${field}: ${message}`);

function check(metadata: object, expected: (string | RegExp)[], isNamespaced = true): void {
  const errors = validateObjectMeta({ ...VALID, ...metadata }, { isNamespaced, nameProblems: nameIsDnsSubdomain });
  const found = texts(errors);
  assert.equal(found.length, expected.length, found.join('\n'));
  for (const [index, one] of expected.entries())
    if (typeof one === 'string') assert.equal(found[index], one);
    else assert.match(found[index]!, one);
}

describe('new metadata', () => {
  it('needs a name, and a namespace where the kind has one', () => {
    check({}, []);
    check({ name: '' }, ['metadata.name: Required value: name or generateName is required']);
    check({ name: 'A' }, [/^metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of/]);
    check({ generateName: 'a-' }, []);
    check({ generateName: 'Ab-' }, [/^metadata.generateName: Invalid value: "Ab-": a lowercase RFC 1123/]);
    check({ namespace: '' }, ['metadata.namespace: Required value']);
    check({ namespace: 'a.b' }, ['metadata.namespace: Invalid value: "a.b": must not contain dots']);
    check({}, ['metadata.namespace: Forbidden: not allowed on this type'], false);
    check({ namespace: undefined }, [], false);
    check({ generation: -1 }, ['metadata.generation: Invalid value: -1: must be greater than or equal to 0']);
  });

  it('has qualified keys and short values', () => {
    check({ labels: { 'x.example/a': '', b: 'B_c.d' }, annotations: { 'X.Example/A': 'any\nthing' } }, []);
    check({ labels: { 'a/b/c': '' } }, [
      /^metadata.labels: Invalid value: "a\/b\/c": a valid label key must consist of/,
    ]);
    check({ labels: { a: '-' } }, [/^metadata.labels: Invalid value: "-": a valid label must be an empty string or/]);
    check({ labels: { a: 'x'.repeat(64) } }, [/must be no more than 63 bytes$/]);
    check({ annotations: { '': '' } }, [/name part must be non-empty$/, /name part must consist of alphanumeric/]);
    const size = 256 << 10;
    check({ annotations: { aa: 'ü'.repeat((size - 2) / 2) } }, []);
    const tooLong = 'metadata.annotations: Too long: may not be more than 262144 bytes';
    check({ annotations: { aa: 'ü'.repeat((size - 2) / 2), b: '' } }, [tooLong]);
  });

  it('has complete owner references and at most one controller', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u', controller: true };
    check({ ownerReferences: [owner, { ...owner, controller: false }] }, []);
    check({ ownerReferences: [{}] }, [
      'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
      'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
      'metadata.ownerReferences.name: Invalid value: "": must not be empty',
      'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ]);
    for (const apiVersion of ['apps/', 'a/b/c'])
      check({ ownerReferences: [{ ...owner, apiVersion }] }, [/version must not be empty$/]);
    check({ ownerReferences: [{ ...owner, apiVersion: 'v1', kind: 'Event' }] }, [
      /\/v1, Kind=Event is disallowed from being an owner$/,
    ]);
    check({ ownerReferences: [owner, { ...owner, name: 's' }] }, [
      /Only one reference can have Controller set to true. Found "true" in references for ReplicaSet\/r and ReplicaSet\/s$/,
    ]);
  });

  it('has finalizers with domains, or the standard ones', () => {
    check({ finalizers: ['orphan', 'kubernetes', 'x.example/a'] }, []);
    check({ finalizers: ['a', 'b c'] }, [
      /^metadata.finalizers: Invalid value: "b c": name part must consist/,
      'metadata.finalizers[0]: Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified',
      /^metadata.finalizers\[1\]: Invalid value: "b c": name is neither/,
    ]);
    check({ finalizers: ['orphan', 'foregroundDeletion'] }, [
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
    ]);
  });

  it('has valid managed fields', () => {
    check({ managedFields: [{ operation: 'Apply', manager: 'm', fieldsType: 'FieldsV1' }] }, []);
    check({ managedFields: [{ operation: 'x', fieldsType: 'y', manager: '\t', subresource: 'z'.repeat(257) }] }, [
      'metadata.managedFields[0].operation: Invalid value: "x": must be `Apply` or `Update`',
      'metadata.managedFields[0].fieldsType: Invalid value: "y": must be `FieldsV1`',
      /^metadata.managedFields\[0\].manager: Invalid value: "\\t": invalid character U\+0009/,
      'metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes',
    ]);
    check({ managedFields: [{ operation: 'Apply', manager: 'ü"'.repeat(43) }] }, [
      'metadata.managedFields[0].manager: Too long: may not be more than 128 bytes',
    ]);
  });
});

describe('changed metadata', () => {
  const OLD = { ...VALID, uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', resourceVersion: '7', generation: 2 };
  const checkChange = (change: object, expected: string[], old: object = {}) => {
    const before = { ...OLD, ...old };
    assert.deepEqual(texts(validateObjectMetaUpdate({ ...before, ...change }, before, true)), expected);
  };

  it('retains its identity and its times', () => {
    checkChange({ labels: { a: 'b' }, resourceVersion: '9' }, []);
    checkChange({ uid: 'v' }, ['metadata.uid: Invalid value: "v": field is immutable']);
    checkChange({ name: 'B' }, ['metadata.name: Invalid value: "B": field is immutable']);
    checkChange({ deletionTimestamp: '2026-01-01T00:00:00Z' }, [
      'metadata.deletionTimestamp: Invalid value: "2026-01-01T00:00:00Z": field is immutable',
    ]);
    checkChange({ deletionGracePeriodSeconds: 1 }, [
      'metadata.deletionGracePeriodSeconds: Invalid value: 1: field is immutable',
    ]);
    checkChange({ generation: 1 }, ['metadata.generation: Invalid value: 1: must not be decremented']);
    checkChange({ resourceVersion: '' }, [
      'metadata.resourceVersion: Invalid value: "": must be specified for an update',
    ]);
  });

  it('gets no new finalizers while it is being deleted', () => {
    checkChange({ finalizers: ['x.example/a'] }, []);
    const old = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x.example/a', 'x.example/b'] };
    checkChange({ finalizers: ['x.example/b'] }, [], old);
    checkChange(
      { finalizers: ['x.example/d', 'x.example/c', 'x.example/b'] },
      [
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.example/c", "x.example/d"}',
      ],
      old,
    );
  });
});
