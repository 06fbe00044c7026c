import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { KeyedLock, POD_DIRECTORY, PodwrightError } from '@podwright/base';
import type { PersistentVolume } from '@podwright/kube-api';
import { serverMounts } from '@podwright/system/mountinfo';
import { HostPathPlugin } from './host-path.ts';
import { LOCAL_PLUGIN, type LocalBlockVolumes } from './local-block-volumes.ts';
import type { Mounter } from './mounter.ts';
import { NfsPlugin } from './nfs.ts';
import { isOfOnePod, refuseSecondPod } from './one-pod.ts';
import type { PersistentVolumeKind, PersistentVolumeRequest } from './persistent-volumes.ts';
import { directoryName } from './pod-directories.ts';
import { VolumeFailure } from './volume-failure.ts';
import { changeGroup } from './volume-ownership.ts';

/** Returns the types of PersistentVolumes that do not need a driver. */
export function persistentVolumeKinds(mounter: Mounter, devices: LocalBlockVolumes): PersistentVolumeKind[] {
  return [new LocalVolumes(mounter, devices), hostPathVolumes(), nfsVolumes(mounter)];
}

function hostPathVolumes(): PersistentVolumeKind {
  const plugin = new HostPathPlugin();
  return {
    name: plugin.name,
    supports: ({ spec }) => spec.hostPath !== undefined,
    setUp: (request) => {
      const { hostPath } = request.bound.volume.spec;
      return plugin.setUp({ ...request, volume: { name: request.volume.name, hostPath } });
    },
  };
}

function nfsVolumes(mounter: Mounter): PersistentVolumeKind {
  const plugin = new NfsPlugin(mounter);
  return {
    name: plugin.name,
    supports: ({ spec }) => spec.nfs !== undefined,
    setUp: (request, signal) => {
      const { nfs, mountOptions } = request.bound.volume.spec;
      // as in upstream, the claim's readOnly takes precedence over the volume's
      const volume = { name: request.volume.name, nfs: { ...nfs!, readOnly: request.readOnly } };
      return plugin.setUp({ ...request, volume, mountOptions }, signal);
    },
  };
}

/** A host directory that is bind-mounted for each pod. The first pod to use it changes its group to the pod's fsGroup. */
class LocalVolumes implements PersistentVolumeKind {
  readonly name = LOCAL_PLUGIN;
  readonly #mounter: Mounter;
  readonly #devices: LocalBlockVolumes;
  readonly #locks = new KeyedLock();

  constructor(mounter: Mounter, devices: LocalBlockVolumes) {
    this.#mounter = mounter;
    this.#devices = devices;
  }

  supports({ spec }: PersistentVolume): boolean {
    return spec.local !== undefined;
  }

  setUp(request: PersistentVolumeRequest, signal: AbortSignal): Promise<string> {
    const { path } = request.bound.volume.spec.local!;
    return this.#locks.run(path, async () => {
      const { pod, directory, readOnly } = request;
      if (await this.#mounter.isMountPoint(directory)) return directory;
      await checkDirectory(request.bound.volume);
      if (isOfOnePod(request.bound.volume.spec)) await this.#refuseSecond(request);
      const { fsGroup: group, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
      const isFirst = group !== undefined && (await this.#mounter.mountsOf(path)).length === 0;
      // change the group before mounting: if the change is interrupted, the volume is not mounted yet, so the next attempt repeats the
      // change
      if (isFirst && !readOnly) await changeGroup(path, { group, policy });
      await mkdir(directory, { recursive: true, mode: POD_DIRECTORY });
      await this.#bind(request, signal);
      return directory;
    });
  }

  map(request: PersistentVolumeRequest, signal: AbortSignal): Promise<string> {
    return this.#devices.map(request, signal);
  }

  async #refuseSecond({ bound: { volume } }: PersistentVolumeRequest): Promise<void> {
    const ofPod = join('/volumes', directoryName(LOCAL_PLUGIN), volume.metadata.name);
    const points = await this.#mounter.mountsOf(volume.spec.local!.path);
    if (points.some((point) => point.endsWith(ofPod))) refuseSecondPod();
  }

  #bind({ bound, directory: target }: PersistentVolumeRequest, signal: AbortSignal): Promise<void> {
    const { local, mountOptions = [] } = bound.volume.spec;
    const source = local!.path;
    if (mountOptions.length === 0) return this.#mounter.bindMount(source, target, signal);
    return this.#mounter.mount({ type: 'none', source, target, options: ['bind', ...mountOptions] }, signal);
  }
}

async function checkDirectory({ metadata, spec }: PersistentVolume): Promise<void> {
  const path = spec.local?.path ?? '';
  if (path === '')
    throw new PodwrightError('failed_precondition', `LocalVolume volume "${metadata.name}" path is empty`);
  if (path.split('/').includes('..'))
    throw new PodwrightError('failed_precondition', `invalid path: ${path} must not contain '..'`);
  await serverMounts.requireResponse(path);
  const stats = await stat(path).catch(() => undefined);
  const notMade = `MountVolume.NewMounter initialization failed for volume "${metadata.name}"`;
  if (stats === undefined) throw new VolumeFailure(`${notMade} : path "${path}" does not exist`);
  if (stats.isBlockDevice())
    throw new VolumeFailure(`${notMade} : block devices are not mounted by this node: mount ${path} on the host`);
  if (!stats.isDirectory()) throw new VolumeFailure(`${notMade} : only directory and block device are supported`);
}
