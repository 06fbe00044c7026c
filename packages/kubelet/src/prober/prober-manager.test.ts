import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import type { Container, Pod, Probe } from '../api/types.ts';
import { PodEvents } from '../events/pod-events.ts';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { ProberManager } from './prober-manager.ts';

const probe: Probe = { exec: { command: ['check'] }, periodSeconds: 1, failureThreshold: 1 };

function podOf(rest: Partial<Container>): Pod {
  const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
  const containers = [{ name: 'app', image: 'busybox:1', ...rest }];
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers } };
}

function statusOf(id: string, state: RuntimeContainer['state'] = 'running'): RuntimePodStatus {
  const container = { id, name: 'app', state, startedAtMs: Date.now() } as RuntimeContainer;
  return { pod: { name: 'web', namespace: 'default', uid: 'u1' }, sandboxes: [], containers: [container] };
}

/** A manager whose probes answer with `exitCode`, by container id. */
function start(context: TestContext, answers: Record<string, number> = {}) {
  const asked: string[] = [];
  const runInContainer = async (id: string) => {
    asked.push(id);
    return { exitCode: answers[id] ?? 0, output: 'said' };
  };
  const events = new PodEvents('node');
  const manager = new ProberManager({ commands: { runInContainer }, events, logger: silentLogger });
  context.after(() => manager.stop());
  const until = (holds: () => boolean) =>
    waitFor(() => holds() || undefined, { intervalMs: 1, signal: AbortSignal.timeout(5000) });
  return { manager, asked, events, answers, until };
}

test('a running container is probed in each way that it has, and begins alive and not ready', async (context) => {
  const { manager, until } = start(context);
  const pod = podOf({ livenessProbe: probe, readinessProbe: probe });
  manager.update(pod, statusOf('c1'), []);
  assert.deepEqual([manager.liveness.get('c1'), manager.readiness.get('c1')], ['success', 'failure']);
  assert.equal(manager.startup.get('c1'), undefined);
  await until(() => manager.readiness.get('c1') === 'success');
});

test('other probes begin once the startup probe has succeeded', async (context) => {
  const { manager, until } = start(context);
  const pod = podOf({ startupProbe: probe, readinessProbe: probe });
  manager.update(pod, statusOf('c1'), []);
  await until(() => manager.startup.get('c1') === 'success');
  assert.equal(manager.readiness.get('c1'), 'failure');
  manager.update(pod, statusOf('c1'), []);
  await until(() => manager.readiness.get('c1') === 'success');
});

test('a failed probe is told once to listeners and as an event', async (context) => {
  const { manager, events, until } = start(context, { c1: 1 });
  const heard: string[] = [];
  manager.liveness.onChange(({ result, containerName }) => heard.push(`${containerName} ${result}`));
  manager.update(podOf({ livenessProbe: probe }), statusOf('c1'), []);
  await until(() => manager.liveness.get('c1') === 'failure');
  assert.deepEqual(heard, ['app success', 'app failure']);
  assert.deepEqual(
    events.list().map(({ reason, message }) => [reason, message]),
    [['Unhealthy', 'Liveness probe failed: said']],
  );
});

test('the successor of a container is probed anew, and the results of the old one are forgotten', async (context) => {
  const { manager, asked, until } = start(context);
  const pod = podOf({ readinessProbe: probe });
  manager.update(pod, statusOf('c1'), []);
  await until(() => manager.readiness.get('c1') === 'success');
  manager.update(pod, statusOf('c1', 'exited'), []);
  assert.equal(manager.readiness.get('c1'), undefined);
  manager.update(pod, statusOf('c2'), []);
  await until(() => manager.readiness.get('c2') === 'success');
  assert.equal(asked.at(-1), 'c2');
});

test('an ending pod keeps its readiness probe only, and begins no other one', async (context) => {
  const { manager, asked, answers, until } = start(context, { c1: 0 });
  const pod = podOf({ livenessProbe: probe, readinessProbe: probe });
  manager.update(pod, statusOf('c1'), []);
  await until(() => manager.readiness.get('c1') === 'success');
  manager.stopLiveness('u1');
  manager.update(pod, statusOf('c1'), []);
  answers.c1 = 1;
  await until(() => manager.readiness.get('c1') === 'failure');
  assert.equal(manager.liveness.get('c1'), 'success', 'its verdict stays');
  manager.remove('u1');
  assert.equal(manager.readiness.get('c1'), undefined);
  assert.ok(asked.length > 1);
});
