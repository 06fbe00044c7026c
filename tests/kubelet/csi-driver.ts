/**
 * A small CSI driver: volumes are bind-mounted directories, and block volumes are files attached to loop devices. The parent process sends
 * messages to control how each call behaves, and receives a message for each call. Arguments: name, data directory, driver socket,
 * registration socket.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  Node,
  type NodeExpandVolumeRequest,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
  type NodeUnpublishVolumeRequest,
  type NodeUnstageVolumeRequest,
  NodeServiceCapability_RPC_Type as Rpc,
  VolumeUsage_Unit,
} from '@podwright/volumes/csi-api';
import { servePlugin } from './plugin-process.ts';

const [name = '', data = '', socket = '', registrationSocket = ''] = process.argv.slice(2);

const isMounted = (path: string) => readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${path} `);
function bind(source: string, target: string, readonly: boolean): void {
  mkdirSync(target, { recursive: true });
  if (isMounted(target)) return;
  execFileSync('mount', ['-n', '--bind', source, target]);
  if (readonly) execFileSync('mount', ['-n', '-o', 'remount,bind,ro', target]);
}
function release(target: string): void {
  if (isMounted(target)) execFileSync('umount', ['-n', target]);
  if (!existsSync(target)) return;
  try {
    rmdirSync(target);
  } catch {
    rmSync(target); // a file for a block volume
  }
}

const imageOf = (volumeId: string) => join(data, `${volumeId}.img`);
const losetup = (...args: string[]) => execFileSync('losetup', args, { encoding: 'utf8' }).trim();
const loopOf = (volumeId: string) => losetup('-n', '-O', 'NAME', '-j', imageOf(volumeId)).split('\n')[0];
function attach(volumeId: string): string {
  closeSync(openSync(imageOf(volumeId), 'a'));
  if (statSync(imageOf(volumeId)).size === 0) truncateSync(imageOf(volumeId), 1 << 20);
  return loopOf(volumeId) || losetup('-f', '--show', imageOf(volumeId));
}
function bindDevice(volumeId: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  closeSync(openSync(target, 'a'));
  if (!isMounted(target)) execFileSync('mount', ['-n', '--bind', attach(volumeId), target]);
}
function dataOf(volumeId: string): string {
  const path = join(data, volumeId);
  mkdirSync(path, { recursive: true });
  return path;
}

const RPCS = [Rpc.STAGE_UNSTAGE_VOLUME, Rpc.GET_VOLUME_STATS, ...(name.startsWith('fixed') ? [] : [Rpc.EXPAND_VOLUME])];

const calls: Record<string, (request: never) => object> = {
  nodeGetInfo: () => ({
    nodeId: `${name}-node`,
    maxVolumesPerNode: 9n,
    accessibleTopology: { segments: { [`${name}/zone`]: 'a' } },
  }),
  nodeGetCapabilities: () => ({
    capabilities: RPCS.map((type) => ({
      type: { case: 'rpc', value: { type } },
    })),
  }),
  nodeStageVolume: ({ volumeId, stagingTargetPath, volumeCapability }: NodeStageVolumeRequest) => {
    if (volumeCapability?.accessType.case === 'block') attach(volumeId);
    else bind(dataOf(volumeId), stagingTargetPath, false);
    return {};
  },
  nodeUnstageVolume: ({ volumeId, stagingTargetPath }: NodeUnstageVolumeRequest) => {
    release(stagingTargetPath);
    const loop = loopOf(volumeId);
    if (loop) losetup('-d', loop);
    return {};
  },
  nodePublishVolume: (request: NodePublishVolumeRequest) => {
    const { volumeId, stagingTargetPath, targetPath, readonly } = request;
    if (request.volumeCapability?.accessType.case === 'block') bindDevice(volumeId, targetPath);
    else bind(stagingTargetPath || dataOf(volumeId), targetPath, readonly);
    return {};
  },
  nodeUnpublishVolume: ({ targetPath }: NodeUnpublishVolumeRequest) => {
    release(targetPath);
    return {};
  },
  nodeExpandVolume: ({ volumeId, capacityRange, volumeCapability }: NodeExpandVolumeRequest) => {
    const capacityBytes = capacityRange!.requiredBytes;
    if (volumeCapability?.accessType.case === 'block') {
      truncateSync(imageOf(volumeId), Number(capacityBytes));
      losetup('-c', attach(volumeId));
    }
    return { capacityBytes };
  },
  nodeGetVolumeStats: () => ({
    usage: [
      { available: 60n, total: 100n, used: 40n, unit: VolumeUsage_Unit.BYTES },
      { available: 7n, total: 10n, used: 3n, unit: VolumeUsage_Unit.INODES },
    ],
  }),
  getInfo: () => ({ type: 'CSIPlugin', name, endpoint: socket, supportedVersions: ['1.0.0'] }),
};

await servePlugin({ service: Node, calls, socket, registrationSocket });
