import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { fuzz } from '../../../base/src/fuzz.fixture.ts';
import { formatReference, parseReference } from './reference.ts';

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
const samples = [
  'busybox',
  'library/busybox:1.36',
  `docker.io/library/busybox@${digest}`,
  `registry.example.com:5000/a/b__c/d-e.f:V1.2_3@${digest}`,
  '[fd00::1]:5000/x:latest',
  'LOCALHOST/x',
].map((text) => Buffer.from(text));

test('any input is rejected, or has a canonical form that parses to the same reference', async () => {
  await fuzz({ samples, rounds: 10_000 }, (input) => {
    const text = input.toString('latin1');
    try {
      const reference = parseReference(text);
      const spelled = formatReference(reference);
      assert.deepEqual(parseReference(spelled), reference);
      assert.match(spelled, /^[A-Za-z0-9._:/@[\]-]+$/);
      assert.ok(!spelled.split('/').includes('..'), spelled);
    } catch (error) {
      assert.equal(errorCode(error), 'invalid_argument', String(error));
    }
  });
});

test('names that could cause regular expression backtracking are rejected at once', () => {
  for (const piece of ['a-', 'a__', '0.', 'a/', '-', ':', '@', 'a-a', '[:']) {
    const text = `${piece.repeat(1000 / piece.length)}!`;
    const startedMs = performance.now();
    assert.throws(() => parseReference(text), { code: 'invalid_argument' });
    assert.throws(() => parseReference(`x/${text}`.slice(0, 1024)), { code: 'invalid_argument' });
    assert.ok(performance.now() - startedMs < 5000, piece);
  }
});
