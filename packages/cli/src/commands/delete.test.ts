import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { PodWatchEvent } from '@podwright/node-api';
import { removalTimeoutMs } from '../run/removal-timeout.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { deletePods, waitUntilRemoved } from './delete.ts';
import { type DeleteOptions, graceOf } from './delete-options.ts';

const web = { kind: 'Pod', namespace: 'default', name: 'web' };
const pod = (uid: string, graceSeconds?: number) =>
  ({ metadata: { uid }, spec: { terminationGracePeriodSeconds: graceSeconds } }) as Pod;

/** A fake node that has the pod `known`, or none. Its watch sends `changes`, then ends if `end` is given or else stays open. */
function node(known: Pod | undefined, changes: [PodWatchEvent['type'], Pod][], end?: 'end') {
  async function* watch(signal: AbortSignal): AsyncGenerator<PodWatchEvent> {
    for (const [type, object] of changes) yield { type, object };
    if (end !== 'end') await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  }
  return {
    podChanges: async (_name: object, signal: AbortSignal) => watch(signal),
    pod: async () => {
      if (known === undefined) throw new PodwrightError('not_found', 'no such pod');
      return known;
    },
  };
}

test('waiting for a pod’s removal ends some time after its grace period', async () => {
  const client = node(pod('u1', 0), [['ADDED', pod('u1')]]);
  await assert.rejects(waitUntilRemoved(client, web, { uid: 'u1', gracePeriod: undefined, spareMs: 100 }), {
    code: 'deadline_exceeded',
    message: /^delete pod default\/web: it has not ended within .*'podwright describe web -n default' shows why/,
  });
});

test('waiting for a pod’s removal ends when the node stops', async () => {
  const client = node(pod('u1'), [['MODIFIED', pod('u1')]], 'end');
  await assert.rejects(waitUntilRemoved(client, web, { uid: 'u1', gracePeriod: undefined }), { code: 'unavailable' });
});

test('a pod counts as removed if the node lacks it or reports its deletion, but not that of a namesake', async () => {
  await waitUntilRemoved(node(undefined, []), web, { uid: 'u1', gracePeriod: 0 });
  const changes = ['ADDED', 'MODIFIED', 'DELETED'] as const;
  await waitUntilRemoved(
    node(
      pod('u1'),
      changes.map((type) => [type, pod('u1')]),
    ),
    web,
    { uid: 'u1', gracePeriod: 0 },
  );
  const replaced = node(pod('u2'), []); // by its workload, before the watch began
  await waitUntilRemoved(replaced, web, { uid: 'u1', gracePeriod: 0 });
  const other = node(pod('u1'), [['DELETED', pod('u2')]], 'end');
  await assert.rejects(waitUntilRemoved(other, web, { uid: 'u1', gracePeriod: 0 }), { code: 'unavailable' });
});

test('the timeout depends on the longest grace period, or on that of the deletion', () => {
  const pods = [pod('u1', 5), pod('u2', 300), pod('u3')];
  assert.equal(removalTimeoutMs(pods, { gracePeriodSeconds: undefined }), 360_000);
  assert.equal(removalTimeoutMs(pods, { gracePeriodSeconds: 10 }), 70_000);
  assert.equal(removalTimeoutMs([pod('u1')], { gracePeriodSeconds: undefined }), 90_000);
  assert.equal(removalTimeoutMs([pod('u1', 1e9)], { gracePeriodSeconds: undefined }), 1e12 + 60_000);
});

test('contradictory grace period options are rejected, as in kubectl', () => {
  assert.equal(graceOf({}), undefined);
  assert.equal(graceOf({ gracePeriod: 5 }), 5);
  assert.equal(graceOf({ gracePeriod: 0 }), 1);
  assert.equal(graceOf({ gracePeriod: -1 }), undefined);
  assert.equal(graceOf({ gracePeriod: -1, force: true }), 0);
  assert.equal(graceOf({ force: true }), 0);
  assert.equal(graceOf({ force: true, gracePeriod: 0 }), 0);
  assert.equal(graceOf({ now: true }), 1);
  for (const options of [
    { force: true, gracePeriod: 5 },
    { now: true, gracePeriod: 0 },
    { now: true, force: true },
  ])
    assert.throws(() => graceOf(options), { code: 'invalid_argument' });
});

/** A fake node that lists a ConfigMap but responds with 404 when it is deleted. */
async function nodeWithVanishingObject(t: TestContext): Promise<CommandContext> {
  const state = mkdtempSync('/tmp/delete-test-');
  const items = [{ kind: 'ConfigMap', metadata: { namespace: 'default', name: 'late' } }];
  const server = createServer(({ method }, response) => {
    if (method === 'GET') response.end(JSON.stringify({ items }));
    else response.writeHead(404).end('{"kind":"Status","message":"there is no configmap late"}');
  });
  const apiSocket = join(state, 'node.sock');
  await new Promise<void>((resolve) => server.listen(apiSocket, resolve));
  t.after(() => {
    server.close();
    rmSync(state, { recursive: true });
  });
  return { config: { apiSocket, state } } as CommandContext;
}

test('an object that disappears before its deletion is an error only if requested by name', async (t) => {
  const context = await nodeWithVanishingObject(t);
  const remove = (words: string[], options: Partial<DeleteOptions>) =>
    deletePods(context, words, { wait: true, ...options });
  await remove(['cm'], { all: true });
  await remove(['cm'], { selector: 'app=web' });
  await remove(['cm', 'late'], { ignoreNotFound: true });
  await assert.rejects(remove(['cm', 'late'], {}), { code: 'not_found', message: 'there is no configmap late' });
});
