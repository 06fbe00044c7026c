import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { runRemoteCommand } from '@podwright/streaming';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { loadImage } from '../security/made-image.fixture.ts';

const runtime = new RuntimeUnderTest();
let image: string;
before(async () => {
  await runtime.start();
  image = await loadImage(runtime, 'accounts', { files: { '/etc/passwd': 'app:x:5:5::/home/app:/bin/sh\n' } });
});
after(async () => {
  await runtime.cri.image.removeImage({ image: { image } });
  assert.deepEqual(await runtime.end(), []);
});

/** Number of pods so far, which is part of their names, so that each pod has its own log. */
let count = 0;

const SHOW = `echo "HOME=\${HOME-unset}"`;

type Case = { uid: number; home?: string; passwd?: string };

/** Returns HOME in the container's process, in a synchronous exec, and in a streamed exec. */
async function homesOf(handler: string, { uid, home, passwd }: Case): Promise<string[]> {
  const { cri, place } = runtime;
  const hostPath = join(place.directory, 'image/passwd');
  if (passwd !== undefined) writeFileSync(hostPath, passwd);
  const config = podOf(place, `home-${++count}`);
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config, runtimeHandler: handler });
  const plain = containerOf(image, 'main', `${SHOW}; exec sleep 1000`);
  const { containerId } = await cri.runtime.createContainer({
    podSandboxId,
    config: {
      ...plain,
      envs: home === undefined ? [] : [{ key: 'HOME', value: Buffer.from(home) }],
      mounts: passwd === undefined ? [] : [{ containerPath: '/etc/passwd', hostPath }],
      linux: { securityContext: { ...plain.linux.securityContext, runAsUser: { value: BigInt(uid) } } },
    },
  });
  await cri.runtime.startContainer({ containerId });
  const log = join(place.logs, config.metadata.name, 'main.log');
  const logged = () => (existsSync(log) ? /HOME=\S+/.exec(readFileSync(log, 'utf8'))?.[0] : undefined);
  const atStart = await waitFor(async () => logged(), { intervalMs: 10, signal: AbortSignal.timeout(10_000) });
  const cmd = ['sh', '-c', SHOW];
  const { stdout } = await cri.runtime.execSync({ containerId, cmd, timeout: 10n });
  const { url } = await cri.runtime.exec({ containerId, cmd, stdout: true });
  const stream = new PassThrough();
  await runRemoteCommand({ url }, { stdout: stream, tty: false });
  stream.end();
  await cri.runtime.removePodSandbox({ podSandboxId });
  return [atStart, Buffer.from(stdout).toString().trim(), (await text(stream)).trim()];
}

for (const handler of ['runc', 'crun'])
  test(`HOME is the home in /etc/passwd, or / without an entry there, unless it is set (${handler})`, async () => {
    const check = async (one: Case, home: string) =>
      assert.deepEqual(await homesOf(handler, one), Array(3).fill(`HOME=${home}`), JSON.stringify(one));
    await check({ uid: 7777 }, '/');
    await check({ uid: 5 }, '/home/app');
    await check({ uid: 7777, home: '/mine' }, '/mine');
    await check({ uid: 5, home: '/mine' }, '/mine');
    await check({ uid: 5, home: '' }, '/home/app');
    await check({ uid: 7777, home: '' }, '/');
    const passwd = 'other:x:7777:5::/home/other:/bin/sh\n';
    await check({ uid: 7777, passwd }, '/home/other');
    await check({ uid: 5, passwd }, '/');
  });
