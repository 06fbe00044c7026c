import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, isErrno, namesIn, removeUnfinished, wrapError, writeFileDurable } from '@podwright/base';

const FILE = 'vol_data.json';

/** What is written beside a mounted volume, as upstream writes it: all that is needed to take it away again. */
export type VolumeData = {
  driverName: string;
  volumeHandle: string;
  specVolID?: string;
  nodeName?: string;
  attachmentID?: string;
  volumeLifecycleMode?: string;
  seLinuxMountContext?: string;
};

/** A directory of which it cannot be told what volumes are there, and why not. */
export type UnreadPlace = { directory: string; problem: string };

/** A directory with what is known of the volume in it. */
export type KeptVolume = { directory: string; data: VolumeData };

/** What was found of volumes: one that cannot be read hides no other. */
export type FoundVolumes = { kept: KeptVolume[]; unread: UnreadPlace[] };

export async function writeVolumeData(directory: string, data: VolumeData): Promise<void> {
  await writeFileDurable(join(directory, FILE), `${JSON.stringify(data)}\n`);
}

/** Undefined if there is none, or none that says which volume of which driver. */
export async function readVolumeData(directory: string): Promise<VolumeData | undefined> {
  const text = await readText(directory);
  return text === undefined ? undefined : decode(text);
}

/** Undefined if there is none; never rejects. */
export async function tryVolumeData(directory: string): Promise<VolumeData | { problem: string } | undefined> {
  try {
    const text = await readText(directory);
    if (text === undefined) return undefined;
    return decode(text) ?? { problem: `${join(directory, FILE)} is no JSON object with driverName and volumeHandle` };
  } catch (error) {
    return { problem: errorMessage(error) };
  }
}

/** What one directory has, if it has any. */
export async function foundAt(directory: string): Promise<FoundVolumes> {
  const data = await tryVolumeData(directory);
  if (data === undefined) return { kept: [], unread: [] };
  return 'problem' in data
    ? { kept: [], unread: [{ directory, problem: data.problem }] }
    : { kept: [{ directory, data }], unread: [] };
}

export function together(found: FoundVolumes[]): FoundVolumes {
  return { kept: found.flatMap(({ kept }) => kept), unread: found.flatMap(({ unread }) => unread) };
}

/** Whether anything is written there, even if it makes no sense, or somebody else has a file in its place. */
export async function isNoted(directory: string): Promise<boolean> {
  try {
    return (await namesIn(directory)).includes(FILE);
  } catch (error) {
    if (isErrno(error, 'ENOTDIR')) return true;
    throw error;
  }
}

/** What a kubelet has left that was killed while it noted a volume. */
export async function removeUnfinishedData(directory: string): Promise<void> {
  await removeUnfinished(join(directory, FILE));
}

/** With what a kubelet that was killed has left of it, or its directory would never be empty. */
export async function removeVolumeData(directory: string): Promise<void> {
  await removeUnfinishedData(directory);
  await rm(join(directory, FILE), { force: true });
}

async function readText(directory: string): Promise<string | undefined> {
  const path = join(directory, FILE);
  return await readFile(path, 'utf8').catch((error: unknown) => {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return undefined;
    throw wrapError(`read ${path}`, error);
  });
}

function decode(text: string): VolumeData | undefined {
  try {
    const data = JSON.parse(text) as Partial<VolumeData> | null;
    return isName(data?.driverName) && isName(data.volumeHandle) ? (data as VolumeData) : undefined;
  } catch {
    return undefined;
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
