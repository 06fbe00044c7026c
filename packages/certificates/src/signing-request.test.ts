import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Verdict, verdictOf } from './signing-request.ts';

const approved = { type: 'Approved', status: 'True' };
const PEM = '-----BEGIN CERTIFICATE-----';
const certificate = Buffer.from(PEM).toString('base64');
const waiting: Verdict = { kind: 'waiting' };

function check(status: unknown, expected: Verdict): void {
  const csr = { metadata: { name: 'csr-1', uid: '1' }, status } as Parameters<typeof verdictOf>[0];
  assert.deepEqual(verdictOf(csr, '1'), expected, JSON.stringify(status)?.slice(0, 200));
}

test('a request is awaited until approved and signed', () => {
  check(undefined, waiting);
  check({}, waiting);
  check({ conditions: [approved] }, waiting);
  check({ certificate }, waiting);
  check({ conditions: [approved], certificate }, { kind: 'issued', certificate: PEM });
});

test('a denial has its reason, even after an approval', () => {
  const denied = { type: 'Denied', reason: 'No', message: 'not this node' };
  check({ conditions: [denied] }, { kind: 'refused', reason: 'it is denied: No: not this node' });
  check({ conditions: [approved, { type: 'Failed' }] }, { kind: 'refused', reason: 'it failed: no reason given' });
  const reason = `it is denied: ${'x'.repeat(500)}`;
  check({ conditions: [{ ...denied, reason: 'x'.repeat(9999) }] }, { kind: 'refused', reason });
});

test('malformed statuses count as pending, and certificates are limited in size', () => {
  for (const status of [null, 5, { conditions: 'x' }, { conditions: [null, 1, approved], certificate: 7 }])
    check(status, waiting);
  const reason = 'its certificate has more than 262144 bytes';
  check({ conditions: [approved], certificate: 'A'.repeat(262_145) }, { kind: 'refused', reason });
  const other = { metadata: { name: 'csr-1', uid: '2' } };
  assert.equal(verdictOf(other, '1').kind, 'refused');
});
