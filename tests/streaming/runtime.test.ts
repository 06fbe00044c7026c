import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { runRemoteCommand } from '@podwright/streaming';
import { seededRandom } from '../../packages/streaming/src/random.fixture.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { streamingSuite } from './streaming.suite.ts';
import { boundMs, StreamingPod } from './streaming-pod.fixture.ts';

streamingSuite('our runtime', async () => {
  const runtime = await new RuntimeUnderTest().start();
  const { cri, image, place } = runtime;
  const end = async () => assert.deepEqual(await runtime.end(), [], 'nothing is left on the host');
  return { cri, image, logDirectory: join(place.logs, 'streams'), end };
});

test('two hundred commands that run, are interrupted and exit in any order leave no processes or descriptors', async () => {
  const runtime = await new RuntimeUnderTest().start();
  const { cri, image, place } = runtime;
  const random = seededRandom(200);
  const config = podOf(place, 'cut');
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config });
  const container = containerOf(image, 'main', 'exec sleep 1000');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config: container, sandboxConfig: config });
  await cri.runtime.startContainer({ containerId });
  const processes = () => runtime.podThings().filter((line) => line.startsWith('processes'));

  const session = async () => {
    const [stdin, tty] = [random(2) === 0, random(3) === 0];
    const cmd = ['sh', '-c', ['sleep 1000', 'echo hello', 'cat', 'yes', 'sleep 1000 & sleep 1000'][random(5)]!];
    const { url } = await cri.runtime.exec({ containerId, cmd, stdin, stdout: true, stderr: !tty, tty });
    const cut = AbortSignal.timeout(random(200));
    const sink = () => new PassThrough().resume();
    const io = { stdin: stdin ? new PassThrough() : undefined, stdout: sink(), stderr: tty ? undefined : sink(), tty };
    await runRemoteCommand({ url }, io, cut).catch(() => undefined);
  };
  for (let round = 0; round < 5; round++) await session();
  const before = { processes: 2, descriptors: descriptors() };
  for (let round = 0; round < 25; round++) await Promise.all(Array.from({ length: 8 }, session));
  const clean = () => (processes().length === before.processes && descriptors() <= before.descriptors) || undefined;
  await waitFor(clean, { intervalMs: 200, signal: AbortSignal.timeout(60_000) }).catch(() => undefined);
  const [left, open] = [processes(), descriptors()];
  assert.deepEqual(await runtime.end(), []);
  assert.equal(left.length, before.processes, `only the container and its monitor: ${left.join('\n')}`);
  assert.ok(open <= before.descriptors, `${open} descriptors, before ${before.descriptors}`);
});

test('an attached client that reads nothing stops neither the container nor its end, and gets an error that names the cause', async () => {
  const runtime = await new RuntimeUnderTest().start();
  const { cri, image, place } = runtime;
  const end = async () => undefined;
  const pod = await new StreamingPod({ cri, image, logDirectory: join(place.logs, 'slow'), end }).start();
  const containerId = await pod.container('while :; do seq 1 20000; done');
  const attach = async (stdout: Writable) => {
    const io = { stdout, stderr: new PassThrough().resume(), tty: false };
    return runRemoteCommand({ url: await pod.attach(containerId) }, io, AbortSignal.timeout(boundMs));
  };

  let read = () => {};
  const reading = new Promise<void>((resolve) => {
    read = resolve;
  });
  const suspended = attach(new Writable({ write: (_chunk, _encoding, done) => void reading.then(() => done()) }));
  const refused = assert.rejects(suspended, /attach to task \w+: the client was disconnected because/);
  let receivedBytes = 0;
  const counter = new PassThrough().on('data', (chunk: Buffer) => {
    receivedBytes += chunk.length;
  });
  const observed = attach(counter);
  const isFlowing = () => receivedBytes > 30_000_000 || undefined;
  await waitFor(isFlowing, { intervalMs: 20, signal: AbortSignal.timeout(boundMs) });
  await cri.runtime.stopContainer({ containerId, timeout: 0n });
  assert.equal(await observed, 0);
  read();
  await refused;
  assert.deepEqual(await runtime.end(), []);
});

const descriptors = () => readdirSync('/proc/self/fd').length;
