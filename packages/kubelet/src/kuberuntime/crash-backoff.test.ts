import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod } from '@podwright/kube-api';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { CrashBackoff } from './crash-backoff.ts';

const container = { name: 'app', image: 'busybox' };
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u1' },
  spec: { containers: [container] },
};
const HOUR_MS = 3_600_000;

/** A crashing container and its back-off, on a host with a mock wall clock and monotonic clock. */
class Crashing {
  #wallMs = 1_000_000_000;
  #monotonicMs = 50_000;
  #attempts = 0;
  #container: Container = container;
  readonly #status: RuntimePodStatus = { pod: pod.metadata, sandboxes: [], containers: [] };
  readonly backoff: CrashBackoff;

  constructor(policy = { initialMs: 10_000, maxMs: 300_000 }) {
    this.backoff = new CrashBackoff(policy, { wallMs: () => this.#wallMs, monotonicMs: () => this.#monotonicMs });
  }

  pass(ms: number): void {
    this.#wallMs += ms;
    this.#monotonicMs += ms;
  }

  resize(cpu: string): void {
    this.#container = { ...container, resources: { requests: { cpu } } };
  }

  setClock(byMs: number): void {
    this.#wallMs += byMs;
  }

  crash(): void {
    const one = { id: `app-${this.#attempts++}`, name: 'app', state: 'exited', finishedAtMs: this.#wallMs };
    this.#status.containers.unshift(one as RuntimeContainer);
  }

  /** Adds a running instance of the container, for example to be killed later. */
  run(): void {
    this.#status.containers.unshift({
      id: `app-${this.#attempts++}`,
      name: 'app',
      state: 'running',
    } as RuntimeContainer);
  }

  delay() {
    return this.backoff.delay({ pod, container: this.#container, status: this.#status });
  }

  /** Starts the container and returns 0, or returns how long it must wait in milliseconds. */
  start(): number {
    const delay = this.delay();
    if (delay === undefined) this.backoff.count({ pod, container: this.#container, status: this.#status });
    return delay === undefined ? 0 : delay.retryAtMs - this.#wallMs;
  }
}

test('the first restart is immediate, later ones follow after 10 s, 20 s, … up to the cap', () => {
  const app = new Crashing();
  assert.equal(app.start(), 0);
  app.crash();
  assert.equal(app.start(), 0);
  for (const delayMs of [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
    app.crash();
    assert.equal(app.start(), delayMs);
    app.pass(delayMs);
    assert.equal(app.start(), 0);
  }
});

test('the message names the delay, the container and the pod', () => {
  const app = new Crashing();
  app.crash();
  app.start();
  app.crash();
  assert.deepEqual(app.delay()!.waiting, {
    reason: 'CrashLoopBackOff',
    message: 'back-off 10s restarting failed container=app pod=web_default(u1)',
  });
});

test('the back-off is reset once a container has run for twice the cap', () => {
  const app = new Crashing({ initialMs: 1000, maxMs: 4000 });
  app.crash();
  app.start();
  app.pass(8001);
  app.crash();
  assert.equal(app.start(), 0);
  app.crash();
  assert.equal(app.start(), 1000);
});

test('resizing a container resets its back-off', () => {
  const app = new Crashing();
  app.resize('10m');
  for (const delayMs of [0, 10_000, 20_000]) {
    app.crash();
    assert.equal(app.start(), delayMs);
    app.pass(delayMs);
    app.start();
  }
  app.crash();
  assert.equal(app.start(), 40_000);
  app.resize('16m');
  assert.equal(app.start(), 0);
  app.crash();
  assert.equal(app.start(), 10_000);
});

test('reverting a container’s resources resumes its back-off, even in a different notation', () => {
  const app = new Crashing();
  for (const [cpu, delayMs] of [
    ['1m', 0],
    ['2m', 0],
    ['1m', 10_000],
    ['2m', 10_000],
    ['0.001', 20_000],
    ['2m', 20_000],
  ] as const) {
    app.resize(cpu);
    app.crash();
    assert.equal(app.start(), delayMs, cpu);
    app.pass(delayMs);
    if (delayMs > 0) app.start();
  }
});

test('querying the delay does not count as a restart', () => {
  const app = new Crashing();
  app.crash();
  for (let look = 0; look < 3; look++) assert.equal(app.delay(), undefined);
  app.start();
  app.crash();
  assert.equal(app.start(), 10_000);
});

test('the delay of a killed container starts at its last exit', () => {
  const app = new Crashing();
  app.crash();
  app.start();
  app.crash();
  app.pass(10_000);
  assert.equal(app.start(), 0);
  app.pass(5000);
  app.run();
  assert.equal(app.start(), 5000, '15 s of the 20 s since the last exit have passed');
  app.pass(5000);
  assert.equal(app.start(), 0);
});

test('wall clock changes neither lengthen nor shorten a delay', () => {
  for (const byMs of [HOUR_MS, -HOUR_MS]) {
    const app = new Crashing();
    app.crash();
    app.start();
    app.crash();
    assert.equal(app.start(), 10_000);
    app.setClock(byMs);
    assert.equal(app.start(), 10_000);
    app.pass(4000);
    assert.equal(app.start(), 6000);
    app.backoff.collectGarbage();
    app.setClock(-byMs);
    assert.equal(app.start(), 6000);
  }
});
