/** Tests that metadata filling a 3 MB request does not block the server for long. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ApiObject, nameIsDnsSubdomain } from '@podwright/kube-kinds';
import { validateObjectMeta } from './object-meta-rules.ts';
import { validateObjectMetaUpdate } from './object-meta-update-rules.ts';
import { withoutRepeatedOwners } from './owner-references.ts';

const COUNT = 30_000;
/** Maximum CPU time of each test. Quadratic algorithms take more than a minute. */
const MAX_MS = 5_000;

const many = <T>(make: (index: number) => T): T[] => Array.from({ length: COUNT }, (_, index) => make(index));

function quickly(work: () => unknown): void {
  const begin = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(begin);
  assert.ok((user + system) / 1000 < MAX_MS, `${(user + system) / 1000} ms`);
}

const check = (metadata: ApiObject['metadata']) =>
  quickly(() => validateObjectMeta(metadata, { isNamespaced: true, nameProblems: nameIsDnsSubdomain }));

it('owner references are compared in one pass', () => {
  const owner = { apiVersion: 'v1', kind: 'Pod', uid: 'u', controller: true };
  const ownerReferences = many((index) => ({ ...owner, name: `p${index}` }));
  quickly(() => assert.deepEqual(withoutRepeatedOwners({ metadata: { ownerReferences } }).duplicates, []));
  check({ name: 'a', namespace: 'b', ownerReferences });
});

it('finalizers are compared in one pass', () => {
  const finalizers = many((index) => `x.example/f${index}`);
  const old = {
    name: 'a',
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: finalizers.map((name) => `${name}o`),
  };
  quickly(() => validateObjectMetaUpdate({ ...old, finalizers }, old, false));
});

it('long keys and values are matched without backtracking', () => {
  const long = 'a-'.repeat(500_000);
  check({
    name: long,
    namespace: long,
    labels: { [long]: long, [`${long}/${long}`]: '' },
    annotations: { [long]: '' },
  });
});
