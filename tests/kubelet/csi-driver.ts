/**
 * A small CSI driver: volumes are directories of its own, mounted for real. Its parent says by messages how each call behaves, and
 * hears of each call. Arguments: name, directory for data, socket of the driver, socket for the registration.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  Node,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
  type NodeUnpublishVolumeRequest,
  type NodeUnstageVolumeRequest,
  NodeServiceCapability_RPC_Type as Rpc,
  VolumeUsage_Unit,
} from '@podwright/cri/csi';
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
  if (existsSync(target)) rmdirSync(target);
}
function dataOf(volumeId: string): string {
  const path = join(data, volumeId);
  mkdirSync(path, { recursive: true });
  return path;
}

const calls: Record<string, (request: never) => object> = {
  nodeGetInfo: () => ({
    nodeId: `${name}-node`,
    maxVolumesPerNode: 9n,
    accessibleTopology: { segments: { [`${name}/zone`]: 'a' } },
  }),
  nodeGetCapabilities: () => ({
    capabilities: [Rpc.STAGE_UNSTAGE_VOLUME, Rpc.GET_VOLUME_STATS].map((type) => ({
      type: { case: 'rpc', value: { type } },
    })),
  }),
  nodeStageVolume: ({ volumeId, stagingTargetPath }: NodeStageVolumeRequest) => {
    bind(dataOf(volumeId), stagingTargetPath, false);
    return {};
  },
  nodeUnstageVolume: ({ stagingTargetPath }: NodeUnstageVolumeRequest) => {
    release(stagingTargetPath);
    return {};
  },
  nodePublishVolume: ({ volumeId, stagingTargetPath, targetPath, readonly }: NodePublishVolumeRequest) => {
    bind(stagingTargetPath || dataOf(volumeId), targetPath, readonly);
    return {};
  },
  nodeUnpublishVolume: ({ targetPath }: NodeUnpublishVolumeRequest) => {
    release(targetPath);
    return {};
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
