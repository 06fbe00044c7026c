import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { VolumeUse } from './volume-use.ts';

test('volumes are measured by their files, those of servers by their file system, and those of claims have their name', async (context) => {
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
  const pod = { metadata: { uid: 'u', namespace: 'team' }, spec: { volumes } } as unknown as Pod;
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
