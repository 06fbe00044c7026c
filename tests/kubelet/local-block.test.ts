/** `local` PersistentVolumes on block devices, with real loop devices. Requires root. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { VolumeUse } from '../../packages/kubelet/src/stats/volume-use.ts';
import { DeviceMaps } from '../../packages/volumes/src/volumes/device-maps.ts';
import { LocalBlockVolumes } from '../../packages/volumes/src/volumes/local-block-volumes.ts';
import { ProgramLoopDevices } from '../../packages/volumes/src/volumes/loop-devices.ts';
import { ProgramMounter } from '../../packages/volumes/src/volumes/mounter.ts';
import { PodDirectories } from '../../packages/volumes/src/volumes/pod-directories.ts';
import { csiDirectory, loopsBelow, mountsBelow } from './csi-driver.fixture.ts';

test('a device on the node is mapped for each pod, measured, and unmapped by a different kubelet', async () => {
  const rootDir = csiDirectory();
  const file = join(rootDir, 'disk.img');
  writeFileSync(file, Buffer.alloc(1 << 20));
  const device = execFileSync('losetup', ['-f', '--show', file], { encoding: 'utf8' }).trim();
  const reasons: string[] = [];
  const directories = new PodDirectories(rootDir);
  const newVolumes = () => {
    const events = { event: (...[, , reason]: unknown[]) => void reasons.push(String(reason)) };
    const maps = new DeviceMaps({ mounter: new ProgramMounter(), loops: new ProgramLoopDevices(), events });
    return new LocalBlockVolumes({ maps, directories, rootDir });
  };
  const volume = { metadata: { name: 'pv-1', namespace: '', uid: '' }, spec: { local: { path: device } } };
  const claim = { metadata: { name: 'data', namespace: 'default', uid: 'c' }, spec: {} };
  const podOf = (uid: string) =>
    ({
      metadata: { name: `pod-${uid}`, namespace: 'default', uid },
      spec: {
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
        containers: [{ volumeDevices: [{ name: 'data', devicePath: '/dev/data' }] }],
      },
    }) as unknown as Pod;
  const map = (volumes: LocalBlockVolumes, uid: string) => {
    const request = {
      pod: podOf(uid),
      volume: { name: 'data' },
      directory: '',
      bound: { volume, claim },
      readOnly: false,
    };
    return volumes.map(request, new AbortController().signal);
  };
  const first = newVolumes();
  const link = join(rootDir, 'pods/1/volumeDevices/kubernetes.io~local-volume/pv-1');
  for (const uid of ['1', '2', '1']) await map(first, uid);
  const root = join(rootDir, 'plugins/kubernetes.io~local-volume/volumeDevices/pv-1');
  assert.equal(readlinkSync(link), device);
  assert.deepEqual(mountsBelow(root).sort(), [join(root, '1'), join(root, '2')]);
  assert.equal(loopsBelow(root).length, 2);
  assert.deepEqual(reasons, Array(4).fill('SuccessfulMountVolume'));
  const use = new VolumeUse({ pathsOf: () => new Map([['data', link]]), logger: silentLogger });
  use.of(podOf('1'));
  await use.settled();
  assert.equal(use.of(podOf('1'))[0]?.capacityBytes, 1 << 20);
  const modes = { accessModes: ['ReadWriteOncePod'] };
  Object.assign(volume.spec, modes);
  await newVolumes().unmap('2');
  await map(newVolumes(), '1');
  await assert.rejects(map(newVolumes(), '2'), {
    message:
      'MapVolume.SetUpDevice failed for volume "pv-1" : volume uses the ReadWriteOncePod access mode and is already in use by another pod',
  });
  await newVolumes().unmap('1');
  await map(newVolumes(), '2');
  for (const uid of ['1', '2']) await newVolumes().unmap(uid);
  assert.deepEqual(
    [mountsBelow(rootDir), loopsBelow(root), existsSync(root), existsSync(link)],
    [[], [], false, false],
  );
  execFileSync('losetup', ['-d', device]);
});
