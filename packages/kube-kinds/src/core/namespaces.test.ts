import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KindRules, shownErrors } from './kind-rules.fixture.ts';
import { namespaces } from './namespaces.ts';

const rules = await KindRules.of('core.v1.Namespace', namespaces);
const UNKNOWN = 'name is neither a standard finalizer name nor is it fully qualified';
const namespace = (finalizers?: string[], status = {}) => ({ metadata: { name: 'n' }, spec: { finalizers }, status });

describe('a namespace', () => {
  it('gets a label, a finalizer and a phase', () => {
    const created = rules.created({ metadata: { name: 'n' }, status: { phase: 'Terminating' } });
    assert.deepEqual(created, {
      metadata: { name: 'n', labels: { 'kubernetes.io/metadata.name': 'n' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
    assert.deepEqual(rules.created(namespace(['a.b/c'])).spec, { finalizers: ['a.b/c', 'kubernetes'] });
    assert.equal(rules.completed({ metadata: { generateName: 'n-' } }).metadata.labels, undefined);
  });

  it('has qualified or known finalizers', () => {
    rules.checkCreate(namespace(['kubernetes', 'orphan', 'foregroundDeletion', 'example.com/a']), []);
    rules.checkCreate(namespace(['other', 'a b/c']), [
      `spec.finalizers: Invalid value: "other": ${UNKNOWN}`,
      'spec.finalizers: Invalid value: "a b/c": prefix part a lowercase RFC 1123 subdomain',
    ]);
  });

  it('retains finalizers and status in an update', () => {
    const old = namespace(['kubernetes'], { phase: 'Terminating' });
    const updated = rules.updated(namespace([], { phase: 'Active' }), old);
    assert.deepEqual([updated.spec, updated.status], [{ finalizers: ['kubernetes'] }, { phase: 'Terminating' }]);
  });

  it('has a phase that agrees with its deletion', () => {
    const deleted = { metadata: { name: 'n', deletionTimestamp: '2026-01-02T03:04:05Z' }, status: { phase: 'Active' } };
    rules.checkStatus(namespace([], { phase: 'Active' }), namespace(), []);
    rules.checkStatus(namespace([], { phase: 'Terminating' }), namespace(), [
      'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
    ]);
    rules.checkStatus(deleted, deleted, [
      'status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
    ]);
  });

  it('loses its finalizers through the subresource finalize', () => {
    const finalize = namespaces.subresources!.finalize!;
    const old = rules.completed(namespace(['kubernetes'], { phase: 'Terminating' }));
    const object = finalize.prepareForUpdate(rules.completed(namespace([])), old);
    assert.deepEqual([object.spec, object.status], [{}, { phase: 'Terminating' }]);
    const errors = finalize.validateUpdate!(rules.completed(namespace(['orphan', 'other'])), old);
    assert.deepEqual(shownErrors(errors), [`spec.finalizers[1]: Invalid value: "other": ${UNKNOWN}`]);
  });

  it('remains until its finalizers are removed', () => {
    assert.equal(namespaces.defersRemoval!(rules.completed(namespace(['kubernetes']))), true);
    assert.equal(namespaces.defersRemoval!(rules.completed(namespace())), false);
    const deleted = namespaces.prepareForDelete!(rules.completed(namespace(['kubernetes'])));
    assert.deepEqual(deleted.status, { phase: 'Terminating' });
    assert.equal(namespaces.selectableFields!['status.phase']!(deleted), 'Terminating');
  });
});
