import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger, sleep, waitFor } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { type PodEnd, type PodSteps, PodWorkers, type SyncOutcome } from './pod-workers.ts';

function podOf(uid: string, name = 'web', image = '1'): Pod {
  const metadata = { name, namespace: 'default', uid };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'app', image }] } };
}

/** Fake steps of the pod workers that log their calls. A sync can be blocked until it is released or aborted. */
class RecordedSteps implements PodSteps {
  readonly log: string[] = [];
  held: Promise<void> | undefined;
  outcome: () => SyncOutcome = () => ({ ended: false });
  terminateFailures = 0;
  finishFailures = 0;

  async sync(pod: Pod, signal: AbortSignal): Promise<SyncOutcome> {
    this.log.push(`sync ${pod.metadata.uid} ${pod.spec.containers[0]!.image}`);
    if (this.held !== undefined) await Promise.race([this.held, sleep(5000, signal)]);
    return this.outcome();
  }

  async terminate(pod: Pod, { gracePeriodSeconds }: PodEnd, signal: AbortSignal): Promise<void> {
    this.log.push(`terminate ${pod.metadata.uid} ${gracePeriodSeconds ?? 'default'}`);
    if (this.terminateFailures-- > 0) throw new Error('does not stop');
    signal.throwIfAborted();
  }

  async finish({ metadata }: Pod): Promise<void> {
    this.log.push(`finish ${metadata.uid}`);
    if (this.finishFailures-- > 0) throw new Error('umount: target is busy');
  }

  async remove({ metadata }: Pod): Promise<void> {
    this.log.push(`remove ${metadata.uid}`);
  }
}

function workersOf(steps: PodSteps, given: { resyncPeriodMs?: number; onRecreate?: () => void } = {}): PodWorkers {
  const errorBackoff = { initialMs: 5, maxMs: 20 };
  return new PodWorkers({ steps, logger: silentLogger, resyncPeriodMs: 60_000, errorBackoff, ...given });
}

const until = (holds: () => boolean) =>
  waitFor(() => holds() || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });

test('updates to a busy worker are coalesced: the latest wins', async () => {
  const steps = new RecordedSteps();
  const workers = workersOf(steps);
  const hold = Promise.withResolvers<void>();
  steps.held = hold.promise;
  workers.update(podOf('a'));
  for (const image of ['2', '3', '4']) workers.update(podOf('a', 'web', image));
  steps.held = undefined;
  hold.resolve();
  await until(() => steps.log.length === 2);
  assert.deepEqual(steps.log, ['sync a 1', 'sync a 4']);
  await workers.stop();
});

test('an update that arrives as the worker goes idle is not lost', async () => {
  for (let turns = 0; turns < 12; turns++) {
    const steps = new RecordedSteps();
    const workers = workersOf(steps);
    workers.update(podOf('a'));
    for (let turn = 0; turn < turns; turn++) await undefined;
    workers.update(podOf('a', 'web', '2'));
    await new Promise(setImmediate);
    assert.equal(steps.log.at(-1), 'sync a 2', `updated after ${turns} turns`);
    await workers.stop();
  }
});

test('a pod that ends by itself is terminated and finished, but stays until it is removed', async () => {
  const steps = new RecordedSteps();
  const workers = workersOf(steps);
  steps.outcome = () => ({ ended: true });
  workers.update(podOf('a'));
  await until(() => steps.log.includes('finish a'));
  assert.equal(workers.phaseOf('a'), 'terminated');
  workers.update(podOf('a', 'web', '2'));
  await workers.end(podOf('a'), { remove: true });
  assert.deepEqual(steps.log, ['sync a 1', 'terminate a default', 'finish a', 'remove a']);
  assert.equal(workers.has('a'), false);
});

test('ending a pod aborts its sync, and a failed termination is retried', async () => {
  const steps = new RecordedSteps();
  const workers = workersOf(steps);
  steps.held = new Promise(() => undefined);
  steps.terminateFailures = 2;
  workers.update(podOf('a'));
  await workers.end(podOf('a'), { gracePeriodSeconds: 3, remove: true });
  assert.deepEqual(steps.log, ['sync a 1', 'terminate a 3', 'terminate a 3', 'terminate a 3', 'finish a', 'remove a']);
});

test('the finish step of a pod that ended by itself is retried until it succeeds', async () => {
  const steps = new RecordedSteps();
  const workers = workersOf(steps);
  steps.outcome = () => ({ ended: true });
  steps.finishFailures = 2;
  workers.update(podOf('a'));
  await until(() => workers.phaseOf('a') === 'terminated');
  assert.deepEqual(steps.log, ['sync a 1', 'terminate a default', 'finish a', 'finish a', 'finish a']);
  await workers.stop();
});

test('a pod is removed only after its finish step has succeeded', async () => {
  const steps = new RecordedSteps();
  const workers = workersOf(steps);
  steps.finishFailures = 1;
  workers.update(podOf('a'));
  await workers.end(podOf('a'), { remove: true });
  assert.deepEqual(steps.log.slice(1), ['terminate a default', 'finish a', 'finish a', 'remove a']);
});

test('the shorter of two grace periods applies', async () => {
  const steps = new RecordedSteps();
  const workers = workersOf(steps);
  workers.update(podOf('a'));
  void workers.end(podOf('a'), { gracePeriodSeconds: 30, remove: true });
  await workers.end(podOf('a'), { gracePeriodSeconds: 1, remove: true });
  assert.ok(steps.log.includes('terminate a 1'));
});

test('a second termination cannot extend the grace period beyond the pod’s own', async () => {
  const steps = new RecordedSteps();
  const workers = workersOf(steps);
  const pod = podOf('a');
  pod.spec.terminationGracePeriodSeconds = 5;
  workers.update(pod);
  void workers.end(pod, { remove: true });
  await workers.end(pod, { gracePeriodSeconds: 60, remove: true });
  const ends = steps.log.filter((line) => line.startsWith('terminate'));
  assert.deepEqual([...new Set(ends)], ['terminate a default']);
  workers.update(podOf('b', 'other'));
  await workers.end(podOf('b', 'other'), { gracePeriodSeconds: 60, remove: true });
  assert.ok(steps.log.includes('terminate b 60'), 'the first end may extend it');
});

test('a pod whose name is in use starts once the other pod is removed', async () => {
  const steps = new RecordedSteps();
  const workers = workersOf(steps);
  workers.update(podOf('a'));
  await until(() => steps.log.length === 1);
  const removed = workers.end(podOf('a'), { remove: true });
  workers.update(podOf('b'));
  assert.equal(workers.phaseOf('b'), 'waiting');
  await removed;
  await until(() => steps.log.includes('sync b 1'));
  assert.deepEqual(steps.log.slice(-2), ['remove a', 'sync b 1']);
  await workers.stop();
});

test('a pod waiting for its name can be terminated, keeps its status, and does not start afterwards', async () => {
  const steps = new RecordedSteps();
  const workers = workersOf(steps);
  workers.update(podOf('a'));
  await until(() => steps.log.length === 1);
  steps.terminateFailures = 2;
  const removed = workers.end(podOf('a'), { remove: true });
  workers.update(podOf('b'));
  assert.deepEqual(
    workers.unendedPods().map(({ metadata }) => metadata.uid),
    ['a', 'b'],
  );
  void workers.end(podOf('b'), { remove: false });
  await workers.whenStopped('b');
  await until(() => workers.phaseOf('b') === 'terminated');
  await removed;
  assert.deepEqual(
    steps.log.filter((line) => line.includes(' b')),
    ['finish b'],
  );
  await workers.stop();
});

test('a pod that is added again during its removal is re-created', async () => {
  const steps = new RecordedSteps();
  const workers = workersOf(steps, { onRecreate: () => void steps.log.push('came back') });
  workers.update(podOf('a'));
  void workers.end(podOf('a'), { remove: true });
  workers.update(podOf('a', 'web', '2'));
  await until(() => steps.log.includes('sync a 2'));
  assert.deepEqual(steps.log.slice(-3), ['remove a', 'came back', 'sync a 2']);
  await workers.stop();
});

test('a pod that never started is removed without being terminated', async () => {
  const steps = new RecordedSteps();
  const workers = workersOf(steps);
  workers.update(podOf('a'));
  workers.update(podOf('b'));
  await workers.end(podOf('b'), { remove: true });
  assert.deepEqual(
    steps.log.filter((line) => line.includes(' b')),
    ['remove b'],
  );
  await workers.stop();
});

test('a sync is repeated at its retry time and after the resync interval', async () => {
  const steps = new RecordedSteps();
  let retry = true;
  steps.outcome = () => {
    const outcome = { ended: false, retryAtMs: retry ? Date.now() + 20 : undefined };
    retry = false;
    return outcome;
  };
  const workers = workersOf(steps, { resyncPeriodMs: 40 });
  const startedAtMs = performance.now();
  workers.update(podOf('a'));
  await until(() => steps.log.length === 3);
  assert.ok(performance.now() - startedAtMs >= 55);
  await workers.stop();
});

test('after a failed sync, notifications are delayed, so that a step that triggers them cannot spin', async () => {
  const steps = new RecordedSteps();
  const workers = workersOf(steps);
  steps.outcome = () => {
    workers.notice('a');
    return { ended: false, failed: true };
  };
  workers.update(podOf('a'));
  await sleep(60);
  assert.ok(steps.log.length <= 12, `${steps.log.length} syncs`);
  await workers.stop();
});

test('retryAll also retries terminating pods immediately', async () => {
  const steps = new RecordedSteps();
  const slow = { initialMs: 600_000, maxMs: 600_000 };
  const workers = new PodWorkers({ steps, logger: silentLogger, resyncPeriodMs: 600_000, errorBackoff: slow });
  steps.terminateFailures = 1;
  workers.update(podOf('a'));
  await until(() => steps.log.length === 1);
  const removed = workers.end(podOf('a'), { remove: true });
  await until(() => steps.log.length === 2 && steps.terminateFailures === 0);
  await new Promise(setImmediate);
  workers.retryAll();
  await removed;
  assert.deepEqual(steps.log, ['sync a 1', 'terminate a default', 'terminate a default', 'finish a', 'remove a']);
});

test('no step starts after the workers have been stopped', async () => {
  const steps = new RecordedSteps();
  const workers = workersOf(steps);
  steps.held = new Promise(() => undefined);
  workers.update(podOf('a'));
  await workers.stop();
  workers.retry('a');
  assert.deepEqual(steps.log, ['sync a 1']);
});

test('a UID reused for a different pod name is re-created, and pods waiting for either name start', async () => {
  const steps = new RecordedSteps();
  const workers = workersOf(steps);
  workers.update(podOf('a', 'victim'));
  workers.update(podOf('b', 'victim', 'next'));
  void workers.end(podOf('a', 'victim'), { remove: true });
  workers.update(podOf('a', 'thief', 'taken'));
  assert.equal(workers.podOf('a')?.metadata.name, 'victim');
  await until(() => steps.log.includes('sync a taken') && steps.log.includes('sync b next'));
  assert.ok(steps.log.indexOf('remove a') < steps.log.indexOf('sync a taken'));
  assert.equal(workers.podOf('a')?.metadata.name, 'thief');
  await workers.stop();
});
