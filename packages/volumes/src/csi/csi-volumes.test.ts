import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { CsiVolume } from './csi-volume.ts';
import { CsiVolumes, type CsiVolumesOptions } from './csi-volumes.ts';
import { VolumesInUse } from './volumes-in-use.ts';

test('while reports omit a volume, further reports are requested with growing pauses', async () => {
  let reports = 0;
  const inUse: VolumesInUse = new VolumesInUse(() => {
    reports++;
    setImmediate(() => inUse.reported(['another'], []));
  });
  const volumes = new CsiVolumes({
    drivers: { has: () => true },
    objects: { driver: async () => undefined },
    paths: { published: () => '/none/pods/u/volumes/v' },
    nodeName: 'n',
    logger: silentLogger,
    driversKnown: Promise.resolve(),
    inUse,
  } as unknown as CsiVolumesOptions);
  const pod = { metadata: { namespace: 'a', name: 'b', uid: 'u' } } as Pod;
  const volume = {
    mode: 'Persistent',
    driver: 'd.example',
    handle: 'h',
    name: 'v',
    accessModes: [],
  } as unknown as CsiVolume;
  await assert.rejects(volumes.setUp(pod, volume, AbortSignal.timeout(250)));
  assert.ok(reports >= 2 && reports <= 3, `${reports} reports`); // at once, after 100 ms, after 300 ms
});
