/** A local user tries to read containers' logs after they have been rotated and compressed. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { LogRotation } from '../../packages/kubelet/src/gc/log-rotation.ts';
import type { RuntimeContainer } from '../../packages/kubelet/src/kubecontainer/runtime-pod.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { opportunitiesOfNobody } from './as-nobody.fixture.ts';

const place = makeTestPlace();
chmodSync(place.directory, 0o755); // as /var/log
const runtime = new RuntimeUnderTest(place);
before(async () => {
  await runtime.start();
});
after(async () => {
  assert.deepEqual(await runtime.end(), [], 'the runtime leaves nothing on the host');
});

test('rotated logs, and directories left open by an earlier version, are inaccessible to unprivileged users', async () => {
  const { cri, image } = runtime;
  const config = podOf(place, 'talker');
  const directory = join(config.logDirectory, 'main');
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config });
  const script = 'while :; do echo the password is swordfish; sleep 0.01; done';
  const container = { ...containerOf(image, 'main', script), logPath: 'main/0.log' };
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config: container });
  await cri.runtime.startContainer({ containerId });
  const talker = { id: containerId, logPath: join(directory, '0.log'), state: 'running' } as RuntimeContainer;
  const policy = { maxSizeBytes: 1, maxFiles: 4, maxWorkers: 1 };
  const rotation = new LogRotation({ cri, logger: silentLogger, policy, compressAfterMs: 0 });
  const pod = { name: 'talker', namespace: 'default', uid: 'u' };
  rotation.follow({ pod, sandboxes: [], containers: [talker] });
  const isCompressed = async () => {
    await rotation.checkAll();
    return readdirSync(directory).some((name) => name.endsWith('.gz')) || undefined;
  };
  await waitFor(isCompressed, { intervalMs: 20, signal: AbortSignal.timeout(10_000) });
  rotation.close();
  const files = readdirSync(directory).map((name) => join(directory, name));
  assert.ok(
    files.some((path) => path.endsWith('.gz')),
    `one of ${files} is compressed`,
  );
  for (const path of files) assert.equal(statSync(path).mode & 0o007, 0, `${path} is closed to others`);
  assert.deepEqual(opportunitiesOfNobody([config.logDirectory, directory, ...files]), []);
  await cri.runtime.removePodSandbox({ podSandboxId });
});
