import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { errorMessage, isErrno, PodwrightError } from '@podwright/base';
import { type CdiEdits, type CdiSpec, decodeCdiSpec, maxSpecBytes } from './cdi-spec.ts';

/** Folders of specifications, as every runtime has them: what is made by hand, and what drivers make anew at each boot. */
export const cdiFolders = ['/etc/cdi', '/var/run/cdi'];

/** Most files of a folder that are read. */
const MAX_FILES = 1000;

/** A file with its specification, and how its folder ranks. */
type Loaded = { file: string; rank: number; spec: CdiSpec };

/**
 * The edits that the devices need, in their order; those of a whole specification come before its first device's. Folders are
 * read anew each time: they change while drivers come and go. A later folder wins over an earlier one; of two files in
 * one folder neither does. Files that cannot be read hide no devices of others.
 *
 * `failed_precondition` names the devices that are in no file, and the files that could not be read.
 */
export async function resolveCdiDevices(names: string[], folders: string[] = cdiFolders): Promise<CdiEdits[]> {
  if (names.length === 0) return [];
  const problems: string[] = [];
  const loaded = await loadFolders(folders, problems);
  const found = names.map((name) => ({ name, ...findDevice(name, loaded, problems) }));
  const missing = found.filter(({ from }) => from === undefined).map(({ name }) => name);
  if (missing.length > 0) {
    const told = problems.length === 0 ? '' : ` (${problems.join('; ')})`;
    throw new PodwrightError(
      'failed_precondition',
      `CDI device ${missing.join(', ')} is in no specification in ${folders.join(' and ')}${told}`,
    );
  }
  const used = new Set<Loaded>();
  return found.flatMap(({ from, edits }) => {
    const ofAll = used.has(from!) ? [] : [from!.spec.containerEdits ?? {}];
    used.add(from!);
    return [...ofAll, edits!];
  });
}

function findDevice(qualified: string, loaded: Loaded[], problems: string[]): { from?: Loaded; edits?: CdiEdits } {
  const [kind, name] = qualified.split('=');
  const candidates = loaded.flatMap((from) => {
    const device = from.spec.kind === kind ? from.spec.devices.find((item) => item.name === name) : undefined;
    return device === undefined ? [] : [{ from, edits: device.containerEdits }];
  });
  const rank = Math.max(...candidates.map(({ from }) => from.rank));
  const best = candidates.filter(({ from }) => from.rank === rank);
  if (best.length > 1) problems.push(`${qualified} is in ${best.map(({ from }) => from.file).join(' and ')}`);
  return best.length === 1 ? best[0]! : {};
}

async function loadFolders(folders: string[], problems: string[]): Promise<Loaded[]> {
  const loaded: Loaded[] = [];
  for (const [rank, folder] of folders.entries()) {
    const files = (await readdir(folder).catch(noneIfMissing))
      .filter((file) => ['.json', '.yaml'].includes(extname(file)))
      .sort();
    if (files.length > MAX_FILES) problems.push(`${folder} has more than ${MAX_FILES} files`);
    for (const name of files.slice(0, MAX_FILES)) {
      const file = join(folder, name);
      try {
        loaded.push({ file, rank, spec: decodeCdiSpec(await readSpec(file), file) });
      } catch (error) {
        if (!isErrno(error, 'ENOENT')) problems.push(errorMessage(error)); // a driver that has gone meanwhile
      }
    }
  }
  return loaded;
}

async function readSpec(file: string): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (stats.isFile() && stats.size <= maxSpecBytes) return await handle.readFile('utf8');
    throw new PodwrightError('invalid_argument', `read CDI specification ${file}: it is no file, or over 4 MiB`);
  } finally {
    await handle.close();
  }
}

function noneIfMissing(error: unknown): string[] {
  if (isErrno(error, 'ENOENT')) return [];
  throw error;
}
