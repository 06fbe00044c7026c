import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ApiObject } from '@podwright/kube-kinds';
import { repeatedOwnersWarning, withoutRepeatedOwners } from './owner-references.ts';
import { generateName, withoutSystemFields, withRetainedFields, withSystemFields } from './system-fields.ts';

it('generated names have a suffix and fit in a DNS label', () => {
  assert.match(generateName('some-'), /^some-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  assert.match(generateName('x'.repeat(80)), /^x{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

it('the server sets identity and time of new objects', () => {
  const sent = {
    name: 'a',
    uid: 'u',
    creationTimestamp: 'x',
    deletionTimestamp: 'y',
    selfLink: '/',
    labels: { a: 'b' },
  };
  assert.deepEqual(withoutSystemFields(sent), { name: 'a', labels: { a: 'b' } });
  const { uid, ...others } = withSystemFields({ name: 'a', labels: { a: 'b' } }, 1_999);
  assert.match(uid!, /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  assert.deepEqual(others, { name: 'a', creationTimestamp: '1970-01-01T00:00:01Z', labels: { a: 'b' } });
  const generated = withSystemFields({ generateName: 'a-' }, 0);
  assert.match(generated.name!, /^a-.{5}$/);
  assert.equal(generated.generateName, 'a-');
  assert.deepEqual(Object.keys(withSystemFields({}, 0)), ['uid', 'creationTimestamp']);
});

it('updates cannot change the server’s fields', () => {
  const old = {
    name: 'a',
    uid: 'u',
    creationTimestamp: 'x',
    generation: 3,
    deletionTimestamp: 'd',
    deletionGracePeriodSeconds: 5,
  };
  assert.deepEqual(withRetainedFields({ name: 'a', generation: 9, creationTimestamp: 'z' }, old), old);
  const changed = { name: 'a', uid: 'v', deletionGracePeriodSeconds: 1 };
  assert.deepEqual(withRetainedFields(changed, old), { ...old, ...changed });
  assert.deepEqual(withRetainedFields({ name: 'a', generation: 1 }, { name: 'a', uid: 'u' }), { name: 'a', uid: 'u' });
});

it('repeated owner references are removed', () => {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'u' };
  const ownerReferences = [owner, { ...owner, name: 'b' }, { ...owner }, { ...owner, uid: 'w' }];
  const object: ApiObject = { metadata: { name: 'a', ownerReferences } };
  const result = withoutRepeatedOwners(object);
  assert.deepEqual(result.duplicates, ['u']);
  assert.deepEqual(
    result.object.metadata.ownerReferences!.map(({ name, uid }) => name + uid),
    ['au', 'bu', 'aw'],
  );
  const plain: ApiObject = { metadata: { ownerReferences: [owner] } };
  assert.equal(withoutRepeatedOwners(plain).object, plain);
  assert.match(
    repeatedOwnersWarning(['u', 'w'], true),
    /entries after mutating admission happens; .*UID\(s\) observed: u, w$/,
  );
});
