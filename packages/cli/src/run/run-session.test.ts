import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { PodWatchEvent } from '@podwright/node-api';
import type { NodeClient } from '../client/node-client.ts';
import { ended, podOf, RUNNING, status } from './pod.fixture.ts';
import { RunSession } from './run-session.ts';

const up = podOf({ containers: [status('a', RUNNING, { ready: true })], ready: true });
const going: Pod = { ...up, metadata: { ...up.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
const failed = podOf({ containers: [status('a', ended(3))], phase: 'Failed', restartPolicy: 'Never' });

type News = PodWatchEvent | { type: 'listed' };

/** A `podwright run` session with the pod `web` and a ConfigMap. `push` and `send` add events to its watch. */
function session(action: 'created' | 'unchanged' | 'resized' | 'replaced') {
  const deleted: string[] = [];
  const waiting: ((event: News) => void)[] = [];
  const queue: News[] = [];
  const push = (type: PodWatchEvent['type'], object: Pod) => send({ type, object });
  const send = (event: News) => {
    const next = waiting.shift();
    if (next === undefined) queue.push(event);
    else next(event);
  };
  const client = {
    watchPods: async function* () {
      for (;;) yield queue.shift() ?? (await new Promise<News>((resolve) => waiting.push(resolve)));
    },
    delete: async ({ kind }: { kind: string }, grace?: number) => {
      deleted.push(grace === undefined ? kind : `${kind} ${grace}`);
      if (kind === 'Pod') push('DELETED', going);
    },
  };
  const pod = { kind: 'Pod', namespace: 'default', name: 'web', uid: 'u1', action };
  const settings = { kind: 'ConfigMap', namespace: 'default', name: 'settings', action };
  const made = new RunSession(client as unknown as NodeClient, {
    objects: [settings, pod],
    findings: [],
    warnings: [],
  });
  const stop = new AbortController();
  void made.watch(stop.signal);
  return { made, deleted, push, send, never: stop.signal };
}

test('created objects are removed, starting with pods', async () => {
  const { made, deleted, push, never } = session('created');
  push('ADDED', up);
  await made.settled(never, 0);
  await made.remove(0);
  assert.deepEqual(deleted, ['Pod 0', 'ConfigMap']);
});

test('existing objects are never removed', async () => {
  for (const action of ['unchanged', 'resized', 'replaced'] as const) {
    const { made, deleted, push, never } = session(action);
    push('ADDED', up);
    await made.settled(never, 0);
    await made.remove();
    assert.deepEqual(deleted, []);
    assert.equal(made.isMade(up), false);
    assert.equal(made.existing.length, 2);
    assert.deepEqual([...made.old], action === 'replaced' ? [] : ['u1'], 'earlier events are not part of this run');
  }
});

test('a pod deleted by another client has failed, and a new pod of the same name is not removed', async () => {
  const { made, deleted, push, never } = session('created');
  push('ADDED', up);
  push('MODIFIED', going);
  push('DELETED', { ...going, status: { ...going.status!, phase: 'Succeeded' } });
  await made.ended(never);
  assert.equal(made.exitCode(), 1);
  assert.deepEqual(made.deletedByOthers, [{ ...going, status: { ...going.status!, phase: 'Succeeded' } }]);
  await made.remove();
  assert.deepEqual(deleted, ['ConfigMap']);
});

test('a pod that ended before its deletion keeps its exit code', async () => {
  const { made, push, never } = session('created');
  push('ADDED', failed);
  await made.ended(never);
  push('DELETED', failed);
  assert.equal(made.exitCode(), 3);
  assert.deepEqual(made.deletedByOthers, []);
});

test('a pod without probes is settled after running for a moment, but not if it fails at once', async () => {
  const { made, push, never } = session('created');
  const crashing = podOf({
    containers: [status('a', { waiting: { reason: 'CrashLoopBackOff' } }, { lastState: ended(1) })],
  });
  let settled = false;
  const waiting = made.settled(never, 40).then(() => {
    settled = true;
  });
  push('ADDED', up);
  await sleep(10);
  push('MODIFIED', crashing);
  await sleep(60);
  assert.equal(settled, false);
  assert.deepEqual(made.tookMs, new Map());
  push('MODIFIED', up);
  await waiting;
  assert.equal(made.tookMs.size, 1);
});

test('a pod whose probe succeeds is settled at once', async () => {
  const { made, push, never } = session('created');
  const probe = { tcpSocket: { port: 80 } };
  const containers = up.spec.containers.map((container) => ({ ...container, readinessProbe: probe }));
  push('ADDED', { ...up, spec: { ...up.spec, containers } } as Pod);
  await made.settled(never, 1_000_000);
});

test('a pod missing from the initial list was deleted before the watch', async () => {
  const { made, send, never } = session('created');
  send({ type: 'listed' });
  await made.ended(never);
  assert.equal(made.exitCode(), 1);
});

test('a permanent pull failure fails a new pod, but not an existing one', async () => {
  const missing = podOf({ containers: [status('a', { waiting: { reason: 'ErrImageNeverPull' } })], phase: 'Pending' });
  const fresh = session('created');
  fresh.push('ADDED', missing);
  await fresh.made.ended(fresh.never);
  const { made, push } = session('unchanged');
  push('ADDED', missing);
  await assert.rejects(made.ended(AbortSignal.timeout(50)), /timeout/);
  push('MODIFIED', failed);
  await made.ended(AbortSignal.timeout(10_000));
});
