import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { runChecked } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { VolumeUse } from './volume-use.ts';

test('local volumes are measured by their files, network volumes by their file system, and claim volumes include the claim name', async (context) => {
  const scratch = await mkdtemp(join(tmpdir(), 'podwright-volume-use-'));
  context.after(() => rm(scratch, { recursive: true }));
  await writeFile(join(scratch, 'file'), Buffer.alloc(1 << 20, 1));
  const volumes = [
    { name: 'disk', emptyDir: {} },
    { name: 'claim', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'server', nfs: { server: 'nas', path: '/' } },
    { name: 'host', hostPath: { path: '/' } },
    { name: 'away', emptyDir: {} },
  ];
  const pod = { metadata: { uid: 'u', namespace: 'team' }, spec: { volumes, containers: [] } } as unknown as Pod;
  const paths = new Map(
    volumes.flatMap(({ name }, index) => (name === 'away' ? [] : [[name, `${scratch}${'/.'.repeat(index)}`] as const])),
  );
  const use = new VolumeUse({ pathsOf: () => paths, logger: silentLogger });
  assert.deepEqual(use.ofClaims(pod), []);
  await use.settled();
  assert.deepEqual(
    use.ofClaims(pod).map(({ name }) => name),
    ['claim'],
  );
  assert.deepEqual(
    use.of(pod).map(({ name }) => name),
    ['claim'],
    'other volumes were not measured by ofClaims',
  );
  await use.settled();
  const [disk, claim, server, ...others] = use.of(pod);
  assert.deepEqual(others, []);
  const enough = (bytes: number | undefined) => bytes !== undefined && bytes >= 1 << 20 && bytes < 2 << 20;
  assert.ok(enough(disk?.usedBytes) && enough(claim?.usedBytes), String(disk?.usedBytes));
  assert.deepEqual([disk?.pvcRef, claim?.pvcRef], [undefined, { name: 'data', namespace: 'team' }]);
  assert.equal(disk?.inodesUsed, 2);
  assert.ok(server!.usedBytes! > 2 << 20, 'all of the file system');
});

test('a pod is partial until its ephemeral volumes have been measured, and large volumes get a second walk', async (context) => {
  const scratch = await mkdtemp(join(tmpdir(), 'podwright-volume-use-'));
  context.after(() => rm(scratch, { recursive: true }));
  const volumes = [...Array(500).keys()].map((index) => ({ name: `v${index}`, emptyDir: {} }));
  const paths = new Map([['v0', scratch]]);
  for (let index = 0; index < 5000; index++) await writeFile(join(scratch, String(index)), '');
  const pod = { metadata: { uid: 'u', namespace: 'team' }, spec: { volumes, containers: [] } } as unknown as Pod;
  const use = new VolumeUse({ pathsOf: () => paths, logger: silentLogger });
  assert.deepEqual(use.of(pod), []);
  assert.equal(use.isPartial(pod, 0), true);
  await use.settled();
  assert.deepEqual([use.isPartial(pod, 0), use.of(pod)[0]!.inodesUsed], [false, 5001]);
  const sinceMs = performance.now();
  assert.equal(use.isPartial(pod, sinceMs), true);
  use.measureNow(pod);
  await use.settled();
  assert.equal(use.isPartial(pod, sinceMs), false);
  paths.set('v1', join(scratch, 'missing'));
  use.measureNow(pod);
  await use.settled();
  assert.equal(use.isPartial(pod, 0), true);
});

test('a volume on an unresponsive server delays no other volume, and at most one program waits for it', async (context) => {
  const scratch = await mkdtemp(join(tmpdir(), 'podwright-volume-use-'));
  const { PATH } = process.env;
  context.after(async () => {
    process.env.PATH = PATH;
    await rm(scratch, { recursive: true });
  });
  // the script imitates a statfs(2) that never returns: it ends only with the test, when the FIFO's writer exits
  const script = `#!/bin/sh\nfor path; do :; done\ncase $path in */dead) echo "$1" >>${scratch}/started; read -r _ <${scratch}/fifo; exit 1;; esac\nPATH=${PATH} exec stat "$@"\n`;
  await mkdir(join(scratch, 'bin'));
  await writeFile(join(scratch, 'bin/stat'), script, { mode: 0o755 });
  await runChecked('mkfifo', [join(scratch, 'fifo')]);
  process.env.PATH = `${join(scratch, 'bin')}:${PATH}`;
  const volumes = [
    { name: 'dead', nfs: { server: 'nas', path: '/' } },
    { name: 'shared', emptyDir: {} },
    { name: 'claim', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'disk', emptyDir: {} },
  ];
  const paths = new Map(volumes.map(({ name }) => [name, join(scratch, name)]));
  for (const path of paths.values()) await mkdir(path);
  const volumeMounts = [{ name: 'shared', mountPath: '/s', mountPropagation: 'Bidirectional' }];
  const spec = { volumes, containers: [{ volumeMounts }] };
  const pod = { metadata: { uid: 'u', namespace: 'team' }, spec } as unknown as Pod;
  const use = new VolumeUse({ pathsOf: () => paths, logger: silentLogger });
  const measured = async () => {
    await use.settled();
    return use.of(pod).map(({ name }) => name);
  };
  use.of(pod);
  assert.deepEqual(await measured(), ['shared', 'claim', 'disk']);
  await measured();
  const started = () => readFile(join(scratch, 'started'), 'utf8');
  assert.equal(await started(), '-f\n');
  await writeFile(join(scratch, 'fifo'), ''); // the program fails
  const again = () => {
    use.of(pod);
    return started().then((text) => (text === '-f\n-f\n' ? true : undefined));
  };
  await waitFor(again, { intervalMs: 10, signal: AbortSignal.timeout(20_000) });
  const startedAtMs = performance.now();
  use.measureNow(pod);
  await use.settled();
  assert.ok(performance.now() - startedAtMs < 900, 'the volume is now measured apart from the others');
  await writeFile(join(scratch, 'fifo'), '');
});
