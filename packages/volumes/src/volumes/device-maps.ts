import { lstat, mkdir, open, readlink, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorMessage, isErrno, MOUNT_POINT_FILE, POD_DIRECTORY, PodwrightError } from '@podwright/base';
import { namesIn } from '@podwright/host';
import { type EventRecorder, eventSubject, type Pod } from '@podwright/kube-api';
import type { LoopDevices } from './loop-devices.ts';
import type { Mounter } from './mounter.ts';

/**
 * The paths of a device mapped for a pod: a bind mount in the volume's directory, named after the pod's UID, and a symlink in the pod's
 * directory.
 */
export type DevicePaths = { globalMap: string; podUid: string; link: string };

/**
 * Maps block devices for pods, in upstream's layout (pkg/volume/util/volumepathhandler). The pod's symlink is created first and removed
 * last, which marks the devices to unmap after a kubelet restart.
 */
export class DeviceMaps {
  readonly #mounter: Mounter;
  readonly #loops: LoopDevices;
  readonly #events: EventRecorder;

  constructor({ mounter, loops, events }: { mounter: Mounter; loops: LoopDevices; events: EventRecorder }) {
    this.#mounter = mounter;
    this.#loops = loops;
    this.#events = events;
  }

  /** Creates the pod's symlink before the device is mapped. Returns whether it already existed. */
  async addLink({ link }: Pick<DevicePaths, 'link'>, device: string): Promise<boolean> {
    await mkdir(dirname(link), { recursive: true, mode: POD_DIRECTORY });
    try {
      await symlink(device, link);
      return false;
    } catch (error) {
      if (isErrno(error, 'EEXIST')) return true;
      throw error;
    }
  }

  /** Maps an existing device. Existing mappings are left in place. */
  async map(device: string, { globalMap, podUid, link }: DevicePaths, signal: AbortSignal): Promise<void> {
    const bound = join(globalMap, podUid);
    await withPrefix(
      `blkUtil.MapDevice failed. devicePath: ${device}, globalMapPath:${globalMap}, podUID: ${podUid}, bindMount: true`,
      () => this.#bind(device, bound, signal),
    );
    await withPrefix(
      `blkUtil.MapDevice failed. devicePath: ${device}, podVolumeMapPath:${dirname(link)}, volumeMapName: ${basename(link)}, bindMount: false`,
      () => relink(link, device),
    );
    await withPrefix(`blkUtil.AttachFileDevice failed. globalMapPath:${globalMap}, podUID: ${podUid}`, () =>
      this.#loops.attach(bound),
    );
  }

  /** Records upstream's events for a mapped device. */
  recordEvents(pod: Pod, volume: string, { globalMap, link }: Omit<DevicePaths, 'podUid'>): void {
    const what = `MapVolume.MapPodDevice succeeded for volume "${volume}"`;
    for (const where of [`globalMapPath "${globalMap}"`, `volumeMapPath "${dirname(link)}"`])
      this.#events.event(eventSubject(pod), 'Normal', 'SuccessfulMountVolume', `${what} ${where}`);
  }

  /** Detaches the loop device and removes the bind mount of a device, but not the pod's symlink. Idempotent. */
  async unmap({ globalMap, podUid }: Omit<DevicePaths, 'link'>): Promise<void> {
    const bound = join(globalMap, podUid);
    const place = `globalUnmapPath:${globalMap}, podUID: ${podUid}`;
    await withPrefix(`blkUtil.DetachFileDevice failed. ${place}`, () => this.#loops.detach(bound));
    await withPrefix(`blkUtil.DetachFileDevice failed. ${place}, bindMount: true`, async () => {
      if (await isDevice(bound)) await this.#mounter.unmount(bound);
      await rm(bound, { force: true });
    });
  }

  /** Removes the pod's symlink, but not its directory, which marks a pod that may have leftovers. */
  async removeLink({ link }: Pick<DevicePaths, 'link'>): Promise<void> {
    await rm(link, { force: true });
  }

  /** Whether the volume's device is mapped for any pod. */
  async isMapped(globalMap: string): Promise<boolean> {
    const found = await Promise.all((await namesIn(globalMap)).map((name) => isDevice(join(globalMap, name))));
    return found.includes(true);
  }

  async #bind(device: string, bound: string, signal: AbortSignal): Promise<void> {
    await mkdir(dirname(bound), { recursive: true, mode: POD_DIRECTORY });
    if (await isDevice(bound)) return;
    await (await open(bound, 'a', MOUNT_POINT_FILE)).close();
    await this.#mounter.bindMount(device, bound, signal);
  }
}

async function isDevice(path: string): Promise<boolean> {
  const found = await lstat(path).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  });
  return found?.isBlockDevice() === true;
}

/** Atomically replaces the symlink if it points elsewhere, for example after a reboot. */
async function relink(link: string, device: string): Promise<void> {
  if ((await readlink(link).catch(() => undefined)) === device) return;
  const next = join(dirname(link), `.${basename(link)}`);
  await rm(next, { force: true });
  await symlink(device, next);
  await rename(next, link);
}

async function withPrefix<T>(prefix: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new PodwrightError('failed_precondition', `${prefix}: ${errorMessage(error)}`, { cause: error });
  }
}
