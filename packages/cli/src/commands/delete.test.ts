import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kubelet';
import { removalTimeoutMs } from '../run/removal-timeout.ts';
import { gone } from './delete.ts';

const web = { kind: 'Pod', namespace: 'default', name: 'web' };
const pod = (uid: string, graceSeconds?: number) =>
  ({ metadata: { uid }, spec: { terminationGracePeriodSeconds: graceSeconds } }) as Pod;

test('a pod that does not end is waited for no longer than its grace period and some time to spare', async () => {
  const client = { pod: async () => pod('u1', 0) };
  await assert.rejects(gone(client, web, { gracePeriod: undefined, spareMs: 100 }), {
    code: 'deadline_exceeded',
    message: /^delete pod default\/web: it has not ended within .*'podwright describe web -n default' tells why/,
  });
});

test('a node that stops answering is waited for no longer either', async () => {
  let asked = 0;
  const silence = (signal: AbortSignal) =>
    new Promise<Pod>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
  const client = {
    pod: async (_namespace: string, _name: string, signal?: AbortSignal) =>
      asked++ === 0 ? pod('u1', 0) : await silence(signal!),
  };
  await assert.rejects(gone(client, web, { gracePeriod: undefined, spareMs: 100 }), { code: 'deadline_exceeded' });
});

test('a pod is gone when the node does not know it, or knows another of its name', async () => {
  const answers = [pod('u1'), pod('u1'), pod('u2')];
  await gone({ pod: async () => answers.shift()! }, web, { gracePeriod: 0 });
  assert.deepEqual(answers, []);
  const unknown = async () => {
    throw new PodwrightError('not_found', 'no such pod');
  };
  await gone({ pod: unknown }, web, { gracePeriod: 0 });
});

test('the bound follows the longest grace period, or the one that the deletion gives', () => {
  const pods = [pod('u1', 5), pod('u2', 300), pod('u3')];
  assert.equal(removalTimeoutMs(pods, { gracePeriodSeconds: undefined }), 360_000);
  assert.equal(removalTimeoutMs(pods, { gracePeriodSeconds: 10 }), 70_000);
  assert.equal(removalTimeoutMs([pod('u1')], { gracePeriodSeconds: undefined }), 90_000);
  assert.equal(removalTimeoutMs([pod('u1', 1e9)], { gracePeriodSeconds: undefined }), 2 ** 31 - 1);
});
