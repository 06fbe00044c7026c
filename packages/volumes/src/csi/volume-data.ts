import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, isErrno, wrapError } from '@podwright/base';
import { namesIn, readRegularFile, removeUnfinished, writeFileDurable } from '@podwright/host';

const FILE = 'vol_data.json';

/** Maximum size of a `vol_data.json` file: enough for the longest volume handle that fits into a manifest. */
const MAX_VOLUME_DATA_BYTES = 4 << 20;

/**
 * Content of the `vol_data.json` file next to a mounted volume, with the same fields as in upstream. Contains everything needed to unmount
 * the volume.
 */
export type VolumeData = {
  driverName: string;
  volumeHandle: string;
  specVolID?: string;
  nodeName?: string;
  attachmentID?: string;
  volumeLifecycleMode?: string;
  seLinuxMountContext?: string;
};

/** A directory whose `vol_data.json` files are unreadable, and why. */
export type UnreadDirectory = { directory: string; problem: string };

/** A volume's directory and the content of its `vol_data.json`. */
export type RecordedVolume = { directory: string; data: VolumeData };

/**
 * Volumes found in directories. Those whose `vol_data.json` files are unreadable are listed separately, so that they do not hide the
 * others.
 */
export type FoundVolumes = { recorded: RecordedVolume[]; unread: UnreadDirectory[] };

export async function writeVolumeData(directory: string, data: VolumeData): Promise<void> {
  await writeFileDurable(join(directory, FILE), `${JSON.stringify(data)}\n`);
}

/** Reads the `vol_data.json` file in a volume's directory; `undefined` if there is none, or if it lacks a driver or volume handle. */
export async function readVolumeData(directory: string): Promise<VolumeData | undefined> {
  const text = await readText(directory);
  return text === undefined ? undefined : decode(text);
}

/** Like `readVolumeData`, but never rejects, and returns `undefined` only if there is no `vol_data.json` file. */
export async function tryVolumeData(directory: string): Promise<VolumeData | { problem: string } | undefined> {
  try {
    const text = await readText(directory);
    if (text === undefined) return undefined;
    return (
      decode(text) ?? { problem: `${join(directory, FILE)} is not a JSON object with driverName and volumeHandle` }
    );
  } catch (error) {
    return { problem: errorMessage(error) };
  }
}

/** Returns the volume recorded in the directory's `vol_data.json` file, if any. */
export async function volumeIn(directory: string): Promise<FoundVolumes> {
  const data = await tryVolumeData(directory);
  if (data === undefined) return { recorded: [], unread: [] };
  return 'problem' in data
    ? { recorded: [], unread: [{ directory, problem: data.problem }] }
    : { recorded: [{ directory, data }], unread: [] };
}

export function mergeFound(found: FoundVolumes[]): FoundVolumes {
  return { recorded: found.flatMap(({ recorded }) => recorded), unread: found.flatMap(({ unread }) => unread) };
}

/** Whether the directory contains a `vol_data.json` file, even if the file cannot be parsed. Also true if `directory` is a file. */
export async function isRecorded(directory: string): Promise<boolean> {
  try {
    return (await namesIn(directory)).includes(FILE);
  } catch (error) {
    if (isErrno(error, 'ENOTDIR')) return true;
    throw error;
  }
}

/** Removes the temporary file left by a kubelet that was killed while writing `vol_data.json`. */
export async function removeUnfinishedData(directory: string): Promise<void> {
  await removeUnfinished(join(directory, FILE));
}

/**
 * Removes a volume's `vol_data.json` file, and temporary files left by a killed kubelet, which would otherwise keep the directory from ever
 * being empty.
 */
export async function removeVolumeData(directory: string): Promise<void> {
  await removeUnfinishedData(directory);
  await rm(join(directory, FILE), { force: true });
}

async function readText(directory: string): Promise<string | undefined> {
  const path = join(directory, FILE);
  return await readRegularFile(path, MAX_VOLUME_DATA_BYTES).catch((error: unknown) => {
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
