import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, namesIn, removeUnfinished, writeFileAtomic } from '@podwright/base';

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

export async function writeVolumeData(directory: string, data: VolumeData): Promise<void> {
  await writeFileAtomic(join(directory, FILE), `${JSON.stringify(data)}\n`);
}

/** Undefined if there is none, or none that says which volume of which driver. */
export async function readVolumeData(directory: string): Promise<VolumeData | undefined> {
  const text = await readFile(join(directory, FILE), 'utf8').catch((error: unknown) => {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    const data = JSON.parse(text) as Partial<VolumeData> | null;
    return isName(data?.driverName) && isName(data.volumeHandle) ? (data as VolumeData) : undefined;
  } catch {
    return undefined;
  }
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

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
