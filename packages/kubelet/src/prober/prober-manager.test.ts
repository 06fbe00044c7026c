import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Registry, sleep, waitFor } from '@podwright/base';
import type { Container, Pod, Probe } from '@podwright/kube-api';
import { PodEvents } from '@podwright/kube-api';
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

type Given = { tookMs?: number; random?: number; wasFrozen?: (podUid: string, sinceMs: number) => boolean };

/** A prober manager whose exec probes return the exit codes in `answers`, by container ID; `undefined` makes a probe fail to execute. */
function start(context: TestContext, answers: Record<string, number | undefined> = {}, given: Given = {}) {
  const probed: string[] = [];
  const probedAtMs: number[] = [];
  const runInContainer = async (id: string) => {
    probed.push(id);
    probedAtMs.push(performance.now());
    await sleep(given.tookMs ?? 0);
    const exitCode = id in answers ? answers[id] : 0;
    if (exitCode === undefined) throw new Error('no runtime');
    return { exitCode, output: 'said', stderr: '' };
  };
  const events = new PodEvents('node');
  const metrics = new Registry();
  const { wasFrozen } = given;
  const options = { commands: { runInContainer }, events, metrics, wasFrozen, random: () => given.random ?? 0 };
  new ProberManager(options).stop(); // an earlier manager in the same process, which registered the same metrics
  const manager = new ProberManager(options);
  context.after(() => manager.stop());
  const until = (holds: () => boolean) =>
    waitFor(() => holds() || undefined, { intervalMs: 1, signal: AbortSignal.timeout(5000) });
  return { manager, probed, probedAtMs, events, answers, until, metrics };
}

test('all probes of a running container are executed, and it starts as alive and unready', async (context) => {
  const { manager, until } = start(context);
  const pod = podOf({ livenessProbe: probe, readinessProbe: probe });
  manager.update(pod, statusOf('c1'), []);
  assert.deepEqual([manager.liveness.get('c1'), manager.readiness.get('c1')], ['success', 'failure']);
  assert.equal(manager.startup.get('c1'), undefined);
  await until(() => manager.readiness.get('c1') === 'success');
});

test('other probes start once the startup probe succeeds', async (context) => {
  const { manager, until } = start(context);
  const pod = podOf({ startupProbe: probe, readinessProbe: probe });
  manager.update(pod, statusOf('c1'), []);
  assert.equal(manager.readiness.get('c1'), 'failure');
  await until(() => manager.startup.get('c1') === 'success');
  await until(() => manager.readiness.get('c1') === 'success');
});

test('a failed probe notifies listeners and emits an event only once', async (context) => {
  const { manager, events, until } = start(context, { c1: 1 });
  const updates: string[] = [];
  manager.liveness.onChange(({ result, containerName }) => updates.push(`${containerName} ${result}`));
  manager.update(podOf({ livenessProbe: probe }), statusOf('c1'), []);
  await until(() => manager.liveness.get('c1') === 'failure');
  assert.deepEqual(updates, ['app success', 'app failure']);
  assert.deepEqual(
    events.list().map(({ reason, message }) => [reason, message]),
    [['Unhealthy', 'Liveness probe failed: said']],
  );
});

test('the successor of a container is probed, and results of its predecessor are dropped', async (context) => {
  const { manager, probed, until } = start(context);
  const pod = podOf({ readinessProbe: probe });
  manager.update(pod, statusOf('c1'), []);
  await until(() => manager.readiness.get('c1') === 'success');
  manager.update(pod, statusOf('c1', 'exited'), []);
  assert.equal(manager.readiness.get('c1'), undefined);
  manager.update(pod, statusOf('c2'), []);
  await until(() => manager.readiness.get('c2') === 'success');
  assert.equal(probed.at(-1), 'c2');
});

test('only the readiness probe of a terminating pod keeps running', async (context) => {
  const { manager, probed, answers, until } = start(context, { c1: 0 });
  const pod = podOf({ livenessProbe: probe, readinessProbe: probe });
  manager.update(pod, statusOf('c1'), []);
  await until(() => manager.readiness.get('c1') === 'success');
  manager.stopLiveness('u1');
  manager.update(pod, statusOf('c1'), []);
  answers.c1 = 1;
  await until(() => manager.readiness.get('c1') === 'failure');
  assert.equal(manager.liveness.get('c1'), 'success', 'the result stays');
  manager.remove('u1');
  assert.equal(manager.readiness.get('c1'), undefined);
  assert.ok(probed.length > 1);
});

const eventsOf = (events: PodEvents) => events.list().map(({ reason, message }) => `${reason} ${message}`);

test('a probe that cannot be executed emits an event and does not change results', async (context) => {
  const { manager, events, probed, until } = start(context, { c1: undefined });
  manager.update(podOf({ livenessProbe: probe }), statusOf('c1'), []);
  await until(() => events.list().length > 0);
  assert.deepEqual(eventsOf(events), ['Unhealthy Liveness probe errored and resulted in unknown state: no runtime']);
  assert.equal(probed.length, 3);
  assert.equal(manager.liveness.get('c1'), 'success');
});

test('a redirect to a different host is a success with a warning', async (context) => {
  const server = createServer((_, response) => response.writeHead(302, { location: 'http://other.invalid/' }).end());
  server.listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const { manager, events, until } = start(context);
  const httpGet = { port: (server.address() as AddressInfo).port };
  manager.update(podOf({ readinessProbe: { ...probe, exec: undefined, httpGet } }), statusOf('c1'), ['127.0.0.1']);
  await until(() => manager.readiness.get('c1') === 'success');
  assert.deepEqual(eventsOf(events), [
    'ProbeWarning Readiness probe warning: Probe terminated redirects, Response body: ',
  ]);
});

test('failures of early attempts emit no events, and a success makes the container ready', async (context) => {
  const { manager, probed, answers, events, until } = start(context, { c1: 1 });
  const pod = podOf({ readinessProbe: { ...probe, periodSeconds: 60 } });
  manager.update(pod, { ...statusOf('c1'), containers: [] }, []); // the first tick passes before the container starts
  manager.update(pod, statusOf('c1'), []);
  await until(() => probed.length > 2);
  assert.deepEqual(eventsOf(events), []);
  answers.c1 = 0;
  await until(() => manager.readiness.get('c1') === 'success');
});

test('a container that was started and ready before a kubelet restart remains so', async (context) => {
  const { manager, probed, until } = start(context, { c1: 1 });
  const about = { podUid: 'u1', containerName: 'app', containerId: 'c1' };
  manager.startup.set({ kind: 'startup', ...about, result: 'success' });
  manager.readiness.set({ kind: 'readiness', ...about, result: 'success' });
  const failing = { ...probe, failureThreshold: 2 };
  manager.update(podOf({ startupProbe: probe, readinessProbe: failing }), statusOf('c1'), []);
  await until(() => probed.length === 1);
  assert.deepEqual([manager.startup.get('c1'), manager.readiness.get('c1')], ['success', 'success']);
  await until(() => manager.readiness.get('c1') === 'failure');
});

test('probes are counted by result until the pod is removed', async (context) => {
  const { manager, answers, metrics, until } = start(context);
  manager.update(podOf({ readinessProbe: probe }), statusOf('c1'), []);
  await until(() => manager.readiness.get('c1') === 'success');
  answers.c1 = 1;
  await until(() => manager.readiness.get('c1') === 'failure');
  const text = await metrics.metrics();
  const counted = (result: string) =>
    text.split('\n').some((line) => {
      const isIt = line.startsWith('prober_probe_total{') && line.includes(`result="${result}"`);
      return isIt && line.includes('probe_type="Readiness"') && line.includes('pod_uid="u1"') && line.endsWith(' 1');
    });
  assert.ok(counted('successful') && counted('failed'), text);
  assert.match(text, /^prober_probe_duration_seconds_count\{.*probe_type="Readiness".*\} 1$/m);
  manager.remove('u1');
  assert.doesNotMatch(await metrics.metrics(), /u1|Readiness/);
});

test('a startup probe with a failure threshold of one is executed once', async (context) => {
  const { manager, probed, events, until } = start(context, { c1: 1 });
  manager.update(podOf({ startupProbe: probe }), statusOf('c1'), []);
  await until(() => manager.startup.get('c1') === 'failure');
  assert.deepEqual(probed, ['c1']);
  assert.deepEqual(eventsOf(events), ['Unhealthy Startup probe failed: said']);
});

test('probes are executed once per period, however long they take', async (context) => {
  const { manager, probedAtMs, until } = start(context, {}, { tookMs: 700 });
  manager.update(podOf({ livenessProbe: probe }), statusOf('c1'), []);
  await until(() => probedAtMs.length === 3);
  assert.ok(probedAtMs[2]! - probedAtMs[0]! < 2600, `${probedAtMs}`);
});

test('after a kubelet start the first probes are delayed by a fraction of their period', async (context) => {
  const { manager, probedAtMs, until } = start(context, {}, { random: 0.3 });
  const beganMs = performance.now();
  manager.update(podOf({ livenessProbe: probe }), statusOf('c1'), []);
  await until(() => probedAtMs.length === 1);
  assert.ok(probedAtMs[0]! - beganMs >= 299, `${probedAtMs[0]! - beganMs} ms`);
});

test('setting the host clock back does not extend an initial delay', async (context) => {
  const { manager, until } = start(context);
  const status = statusOf('c1');
  status.containers[0]!.startedAtMs += 3_600_000;
  manager.update(podOf({ readinessProbe: { ...probe, initialDelaySeconds: 1 } }), status, []);
  await until(() => manager.readiness.get('c1') === 'success');
});

test('a failed attempt during which the kubelet froze the pod neither counts nor emits an event', async (context) => {
  const frozen = { since: 0 };
  const wasFrozen = (podUid: string, sinceMs: number) => podUid === 'u1' && sinceMs >= frozen.since;
  const { manager, probed, events, until } = start(context, { c1: 1 }, { wasFrozen });
  manager.update(podOf({ livenessProbe: probe }), statusOf('c1'), []);
  await until(() => probed.length > 1);
  assert.deepEqual([manager.liveness.get('c1'), eventsOf(events)], ['success', []]);
  frozen.since = Number.POSITIVE_INFINITY;
  await until(() => manager.liveness.get('c1') === 'failure');
  assert.equal(eventsOf(events).length, 1);
});
