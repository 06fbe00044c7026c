import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { runRemoteCommand } from '@podwright/streaming';
import { seededRandom } from '../../packages/streaming/src/random.fixture.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { streamingSuite } from './streaming.suite.ts';

streamingSuite('our runtime', async () => {
  const runtime = await new RuntimeUnderTest().start();
  const { cri, image, place } = runtime;
  const end = async () => assert.deepEqual(await runtime.end(), [], 'nothing is left on the host');
  return { cri, image, logDirectory: join(place.logs, 'streams'), end };
});

test('two hundred commands that run, are interrupted and exit in any order leave no process and no descriptor', async () => {
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

const descriptors = () => readdirSync('/proc/self/fd').length;
