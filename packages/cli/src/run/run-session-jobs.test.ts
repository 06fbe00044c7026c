/** Tests how `podwright run` ends if its manifest has a Job. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import type { PodWatchEvent } from '@podwright/node-api';
import type { NodeClient, ObjectNews } from '../client/node-client.ts';
import { ended, podOf, status } from './pod.fixture.ts';
import { RunSession } from './run-session.ts';

const COMPLETE = [{ type: 'Complete', status: 'True' }];
const FAILED = [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }];

/** An asynchronous stream of the values that a test pushes. */
function feed<T>() {
  const waiting: ((value: T) => void)[] = [];
  const queue: T[] = [];
  const push = (value: T) => {
    const next = waiting.shift();
    if (next === undefined) queue.push(value);
    else next(value);
  };
  const read = async function* () {
    for (;;) yield queue.shift() ?? (await new Promise<T>((resolve) => waiting.push(resolve)));
  };
  return { push, read };
}

/** A `podwright run` session with the Job `task`. */
function session() {
  const pods = feed<PodWatchEvent>();
  const jobs = feed<ObjectNews>();
  const object = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name: 'task', uid: 'j1' };
  const client = {
    watchPods: pods.read,
    watchObject: jobs.read,
    locate: async () => [{ ...object, path: '/apis/batch/v1/namespaces/default/jobs/task' }],
  };
  const applied = { objects: [{ ...object, action: 'created' as const }], findings: [], warnings: [] };
  const made = new RunSession(client as unknown as NodeClient, applied);
  const stop = new AbortController();
  void made.watch(stop.signal);
  const job = (type: 'ADDED' | 'MODIFIED' | 'DELETED', fields: object) =>
    jobs.push({
      type,
      object: { metadata: { namespace: 'default', name: 'task', uid: 'j1' }, ...fields },
    } as ObjectNews);
  const listed = () => jobs.push({ type: 'listed' });
  const pod = (type: PodWatchEvent['type'], given: Pod) => {
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'task', uid: 'j1', controller: true }];
    pods.push({ type, object: { ...given, metadata: { ...given.metadata, ownerReferences } } });
  };
  return { made, job, listed, pod, never: stop.signal };
}

const failed = podOf({ containers: [status('a', ended(5))], phase: 'Failed', restartPolicy: 'Never' });

test('a finished Job removed along with its pods keeps its exit code', async () => {
  const { made, job, listed, pod, never } = session();
  job('ADDED', { status: { active: 1 } });
  listed();
  pod('ADDED', failed);
  job('MODIFIED', { status: { conditions: FAILED } });
  job('DELETED', { status: { conditions: FAILED } });
  pod('DELETED', failed);
  await made.ended(never);
  assert.equal(made.exitCode(), 5);
  assert.deepEqual(made.lostWorkloads, []);
});

test('a Job removed after completion has succeeded, and one removed before is lost', async () => {
  const good = session();
  good.job('ADDED', { status: { conditions: COMPLETE } });
  good.job('DELETED', { status: { conditions: COMPLETE } });
  await good.made.ended(good.never);
  assert.equal(good.made.exitCode(), 0);
  const lost = session();
  lost.job('ADDED', { status: { active: 1 } });
  lost.job('DELETED', { status: { active: 1 } });
  await lost.made.ended(lost.never);
  assert.equal(lost.made.exitCode(), 1);
  assert.deepEqual(
    lost.made.lostWorkloads.map(({ name }) => name),
    ['task'],
  );
});

test('the run ends if its Job no longer exists when the watch starts', async () => {
  const { made, listed, never } = session();
  listed();
  await made.settled(never, 0);
  await made.ended(never);
  assert.equal(made.exitCode(), 1);
});

test('a Job with pods that can never start ends the run', async () => {
  const { made, job, listed, pod, never } = session();
  const waiting = { waiting: { reason: 'ErrImageNeverPull', message: 'not present' } };
  job('ADDED', { status: { active: 1, ready: 0 } });
  listed();
  pod('ADDED', podOf({ containers: [status('a', waiting)], phase: 'Pending', restartPolicy: 'Never' }));
  await made.settled(never, 0);
  await made.ended(never);
  assert.equal(made.exitCode(), 1);
});

test('a suspended Job is reported with what it is waiting for', async () => {
  const { made, job, listed, never } = session();
  job('ADDED', { spec: { suspend: true } });
  listed();
  await made.settled(never, 0);
  assert.deepEqual(
    made.idleWorkloads.map(({ object: { name }, progress }) => [name, progress]),
    [['task', 'suspended (spec.suspend)']],
  );
});
