import { lstat, mkdir, open, readlink, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorMessage, isErrno, MOUNT_POINT_FILE, namesIn, POD_DIRECTORY, PodwrightError } from '@podwright/base';
import { type EventRecorder, eventSubject, type Pod } from '@podwright/kube-api';
import type { LoopDevices } from './loop-devices.ts';
import type { Mounter } from './mounter.ts';

/** Where a device is for a pod: bound in the volume's own directory under the pod's UID, and linked in the pod's. */
export type DevicePlaces = { globalMap: string; podUid: string; link: string };

/**
 * Brings block devices to pods, as upstream does (pkg/volume/util/volumepathhandler). A link of a pod is there before anything else is,
 * and goes last: it tells who comes later what is to be taken away.
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

  /** Notes that the pod may have a device. Returns whether that was known. */
  async note({ link }: Pick<DevicePlaces, 'link'>, device: string): Promise<boolean> {
    await mkdir(dirname(link), { recursive: true, mode: POD_DIRECTORY });
    try {
      await symlink(device, link);
      return false;
    } catch (error) {
      if (isErrno(error, 'EEXIST')) return true;
      throw error;
    }
  }

  /** Maps the device, which must be there. What is there stays. */
  async map(device: string, { globalMap, podUid, link }: DevicePlaces, signal: AbortSignal): Promise<void> {
    const bound = join(globalMap, podUid);
    await inWords(
      `blkUtil.MapDevice failed. devicePath: ${device}, globalMapPath:${globalMap}, podUID: ${podUid}, bindMount: true`,
      () => this.#bind(device, bound, signal),
    );
    await inWords(
      `blkUtil.MapDevice failed. devicePath: ${device}, podVolumeMapPath:${dirname(link)}, volumeMapName: ${basename(link)}, bindMount: false`,
      () => relink(link, device),
    );
    await inWords(`blkUtil.AttachFileDevice failed. globalMapPath:${globalMap}, podUID: ${podUid}`, () =>
      this.#loops.attach(bound),
    );
  }

  /** Tells people that the pod has the device. */
  tell(pod: Pod, volume: string, { globalMap, link }: Omit<DevicePlaces, 'podUid'>): void {
    const what = `MapVolume.MapPodDevice succeeded for volume "${volume}"`;
    for (const where of [`globalMapPath "${globalMap}"`, `volumeMapPath "${dirname(link)}"`])
      this.#events.event(eventSubject(pod), 'Normal', 'SuccessfulMountVolume', `${what} ${where}`);
  }

  /** Takes away all but the link. May be repeated. */
  async unmap({ globalMap, podUid }: Omit<DevicePlaces, 'link'>): Promise<void> {
    const bound = join(globalMap, podUid);
    const place = `globalUnmapPath:${globalMap}, podUID: ${podUid}`;
    await inWords(`blkUtil.DetachFileDevice failed. ${place}`, () => this.#loops.detach(bound));
    await inWords(`blkUtil.DetachFileDevice failed. ${place}, bindMount: true`, async () => {
      if (await isDevice(bound)) await this.#mounter.unmount(bound);
      await rm(bound, { force: true });
    });
  }

  /** Removes the link. Its directory stays: it tells that there is something to be taken away of the pod. */
  async forget({ link }: Pick<DevicePlaces, 'link'>): Promise<void> {
    await rm(link, { force: true });
  }

  /** Whether some pod has the device of this directory. */
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

/** After the host was started anew a link may lead elsewhere. It is there all the time. */
async function relink(link: string, device: string): Promise<void> {
  if ((await readlink(link).catch(() => undefined)) === device) return;
  const next = join(dirname(link), `.${basename(link)}`);
  await rm(next, { force: true });
  await symlink(device, next);
  await rename(next, link);
}

async function inWords<T>(words: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new PodwrightError('failed_precondition', `${words}: ${errorMessage(error)}`, { cause: error });
  }
}
