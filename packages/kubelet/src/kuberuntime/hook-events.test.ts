import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import type { Lifecycle } from '../../../kube-api/src/objects/probe.ts';
import { podIdentity } from '../kubecontainer/pod-identity.ts';
import { computePodActions } from './compute-pod-actions.ts';
import { fakeDependencies, fakeRuntime } from './dependencies.fixture.ts';
import { killPod } from './kill-pod.ts';
import { LifecycleHooks } from './lifecycle-hooks.ts';
import { RuntimePodReader } from './runtime-pod-reader.ts';
import { syncPod } from './sync-pod.ts';

const logs = mkdtempSync(join(tmpdir(), 'podwright-hook-events-'));
after(() => rmSync(logs, { recursive: true }));

/** Starts and stops a pod whose hook command prints a secret and fails. Returns the pod's events and the error of the container start. */
async function run(lifecycle: Lifecycle) {
  const containers = [{ name: 'app', image: 'busybox:1', lifecycle }];
  const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, restartPolicy: 'Always' } };
  const runtime = fakeRuntime();
  const fake = fakeDependencies(runtime, logs);
  const commands = { runInContainer: async () => ({ exitCode: 1, output: 'secret', stderr: '' }) };
  const deps = { ...fake, hooks: new LifecycleHooks({ commands, events: fake.events }) };
  const reader = new RuntimePodReader({ ...deps, runtimeName: 'fake' });
  const signal = AbortSignal.timeout(5000);
  const before = await reader.podStatus(podIdentity(pod));
  const probes = { liveness: () => undefined, startup: () => undefined };
  const plan = computePodActions({ pod, status: before, probes, restartRequested: () => false });
  const steps = await syncPod(deps, { pod, status: before, plan }, signal);
  const status = await reader.podStatus(podIdentity(pod));
  await killPod(deps, { pod, status, gracePeriodSeconds: 5 }, signal);
  const events = fake.events.list().map(({ reason, message }) => `${reason}: ${message}`);
  return { events, error: steps.find(({ error }) => error !== undefined)?.error };
}

const exec = { command: ['true'] };

test('a failed postStart hook kills its container, and its event contains no output', async () => {
  const { events, error } = await run({ postStart: { exec } });
  const hookEvents = events.slice(events.findIndex((event) => event.startsWith('FailedPostStartHook')));
  assert.deepEqual(hookEvents.slice(0, 2), [
    'FailedPostStartHook: PostStartHook failed',
    'Killing: FailedPostStartHook',
  ]);
  assert.doesNotMatch(events.join(), /secret/);
  assert.equal(error?.reason, 'PostStartHookError');
  assert.match(error!.message, /^Exec lifecycle hook .* message: "secret"$/);
});

test('the event for a failed preStop hook excludes the output', async () => {
  const { events } = await run({ preStop: { exec } });
  assert.ok(events.includes('FailedPreStopHook: PreStopHook failed'), events.join());
  assert.doesNotMatch(events.join(), /secret/);
});
