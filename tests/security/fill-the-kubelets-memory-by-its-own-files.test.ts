/** Files that containers can write and the kubelet reads: the container chooses their size and type. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { LocalObjects } from '../../packages/kube-api/src/objects/local-objects.ts';
import { ContainerPreparer } from '../../packages/kubelet/src/container/prepare-container.ts';
import { terminationMessage } from '../../packages/kubelet/src/container/termination-message.ts';
import { readLog } from '../../packages/kubelet/src/logs/log-reader.ts';
import { builtinVolumePlugins } from '../../packages/volumes/src/volumes/builtin-plugins.ts';
import { ClaimVolumes } from '../../packages/volumes/src/volumes/claims.ts';
import { ProgramMounter } from '../../packages/volumes/src/volumes/mounter.ts';
import { PodDirectories } from '../../packages/volumes/src/volumes/pod-directories.ts';
import { VolumeManager } from '../../packages/volumes/src/volumes/volume-manager.ts';

const HUGE_BYTES = 400 << 20;
const ALLOWED_BYTES = 100 << 20;

/** Returns how much the process's memory grew while `work` ran, sampled every millisecond. */
async function growthBytes(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 1);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return Math.max(most, process.memoryUsage.rss()) - before;
}

async function makePreparer(context: TestContext) {
  const scratch = await mkdtemp('/tmp/own-files-');
  context.after(() => rm(scratch, { recursive: true }));
  const objects = new LocalObjects();
  const directories = new PodDirectories(scratch);
  const mounter = new ProgramMounter();
  const nodeAllocatable = { cpuMillis: 1n, memoryBytes: 1n, ephemeralStorageBytes: 1n };
  const claims = new ClaimVolumes(scratch, silentLogger);
  const plugins = builtinVolumePlugins({ mounter, objects, nodeAllocatable, claims });
  const volumes = new VolumeManager({ directories, mounter, plugins, logger: silentLogger });
  const preparer = new ContainerPreparer({
    ...{ volumes, directories, objects, nodeAllocatable },
    hostIps: () => [],
    clusterDomain: 'cluster.local',
    hostsFile: '/etc/hosts',
  });
  const container = { name: 'web', image: 'i', terminationMessagePath: '/dev/termination-log' };
  const pod = {
    apiVersion: 'v1' as const,
    kind: 'Pod' as const,
    metadata: { name: 'p', namespace: 'default', uid: 'u' },
    spec: { containers: [container] },
  };
  return async () => {
    const request = { pod, container, podIps: ['10.0.0.2'], volumeImages: new Map(), recursiveReadOnly: false };
    const { mounts } = await preparer.prepare(request, new AbortController().signal);
    const pathOf = (name: string) => mounts.find((mount) => mount.name === name)!.hostPath;
    return { hosts: pathOf('etc-hosts'), message: pathOf('termination-log') };
  };
}

test('a container that wrote hundreds of megabytes to /etc/hosts is restarted with a new one', async (context) => {
  const prepare = await makePreparer(context);
  const { hosts } = await prepare();
  const wanted = await readFile(hosts, 'utf8');
  await truncate(hosts, HUGE_BYTES);
  const growth = await growthBytes(prepare);
  assert.ok(growth < ALLOWED_BYTES, `${growth >> 20} MiB`);
  assert.equal(await readFile(hosts, 'utf8'), wanted);
});

test('only the last 4096 bytes of a termination message file are read', async (context) => {
  const prepare = await makePreparer(context);
  const { message } = await prepare();
  await truncate(message, 2 ** 40);
  await writeFile(message, 'the end', { flag: 'a' });
  const ended = { messagePath: message, policy: 'File', exitCode: 1, logPath: '' } as const;
  let text = '';
  const growth = await growthBytes(async () => {
    text = await terminationMessage(ended);
  });
  assert.equal(text.length, 4096);
  assert.ok(text.endsWith('the end'));
  assert.ok(growth < ALLOWED_BYTES, `${growth >> 20} MiB`);
});

test('a message file or log that is a FIFO, a device, or a link to one is not read', {
  timeout: 30_000,
}, async (context) => {
  const scratch = await mkdtemp('/tmp/own-files-');
  context.after(() => rm(scratch, { recursive: true }));
  const [fifo, link] = [join(scratch, 'fifo'), join(scratch, 'link')];
  await runChecked('mkfifo', [fifo]);
  await symlink('/dev/zero', link);
  const life = { ended: AbortSignal.abort(), signal: AbortSignal.timeout(20_000) };
  for (const path of [fifo, link, '/dev/zero']) {
    const ended = { messagePath: path, policy: 'FallbackToLogsOnError', exitCode: 1, logPath: path } as const;
    assert.equal(await terminationMessage(ended), '');
    for (const query of [{}, { tailLines: 1 }])
      await assert.rejects(readLog(path, query, life).next(), { code: 'not_found' });
  }
});
