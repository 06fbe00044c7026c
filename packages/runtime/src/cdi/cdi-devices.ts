import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { errorMessage, isErrno, PodwrightError, wrapError } from '@podwright/base';
import { deviceOf } from '../oci/devices.ts';
import type { OciDevice } from '../oci/spec.ts';
import type { ResolvedEdits, ResolvedNode } from './apply-edits.ts';
import { type CdiDeviceNode, type CdiEdits, type CdiSpec, decodeCdiSpec, MAX_SPEC_BYTES } from './cdi-spec.ts';

/** Directories of specifications, as every runtime has them: what is made by hand, and what drivers make anew at each boot. */
export const CDI_DIRECTORIES = ['/etc/cdi', '/var/run/cdi'];

/** Most files of a directory that are read. */
const MAX_FILES = 1000;

/** A file with its specification, and how its directory ranks. */
type Loaded = { file: string; rank: number; spec: CdiSpec };

/** The edits that the devices need, with their nodes as the host has them. Errors: those of `findEdits` and `resolveNodes`. */
export async function resolveCdiDevices(
  names: string[],
  directories: string[] = CDI_DIRECTORIES,
): Promise<ResolvedEdits> {
  const edits = await findEdits(names, directories);
  return { edits, nodes: await resolveNodes(edits) };
}

/** The device nodes of the edits. `failed_precondition` if the host does not have one. */
export function resolveNodes(edits: CdiEdits[]): Promise<ResolvedNode[]> {
  return Promise.all(edits.flatMap(({ deviceNodes = [] }) => deviceNodes).map(resolveNode));
}

/**
 * The edits that the devices need, in their order; those of a whole specification come before its first device's. Directories are
 * read anew each time: they change while drivers come and go. A later directory wins over an earlier one; of two files in
 * one directory neither does. Files that cannot be read hide no devices of others.
 *
 * `failed_precondition` names the devices that are in no file, and the files that could not be read.
 */
async function findEdits(names: string[], directories: string[]): Promise<CdiEdits[]> {
  if (names.length === 0) return [];
  const problems: string[] = [];
  const loaded = await loadDirectories(directories, problems);
  const found = names.map((name) => ({ name, ...findDevice(name, loaded, problems) }));
  const missing = found.filter(({ from }) => from === undefined).map(({ name }) => name);
  if (missing.length > 0) {
    const told = problems.length === 0 ? '' : ` (${problems.join('; ')})`;
    throw new PodwrightError(
      'failed_precondition',
      `CDI device ${missing.join(', ')} is in no specification in ${directories.join(' and ')}${told}`,
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

async function loadDirectories(directories: string[], problems: string[]): Promise<Loaded[]> {
  const loaded: Loaded[] = [];
  for (const [rank, directory] of directories.entries()) {
    const files = (await readdir(directory).catch(noneIfMissing))
      .filter((file) => ['.json', '.yaml'].includes(extname(file)))
      .sort();
    if (files.length > MAX_FILES) problems.push(`${directory} has more than ${MAX_FILES} files`);
    for (const name of files.slice(0, MAX_FILES)) {
      const file = join(directory, name);
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
    if (stats.isFile() && stats.size <= MAX_SPEC_BYTES) return await handle.readFile('utf8');
    throw new PodwrightError('invalid_argument', `read CDI specification ${file}: it is no file, or over 4 MiB`);
  } finally {
    await handle.close();
  }
}

function noneIfMissing(error: unknown): string[] {
  if (isErrno(error, 'ENOENT')) return [];
  throw error;
}

/** Fills in what a node's specification leaves out; one with type and number may be of a device that is not there. */
async function resolveNode(node: CdiDeviceNode): Promise<ResolvedNode> {
  const { path, hostPath = path, permissions = '', uid, gid } = node;
  const type = node.type === 'u' ? 'c' : (node.type ?? '');
  const isComplete = type === 'p' || (type !== '' && (node.major ?? 0) !== 0);
  const found = await nodeOnHost(hostPath, isComplete);
  if (!isComplete && type !== '' && type !== found?.type) {
    throw new PodwrightError(
      'failed_precondition',
      `give CDI device node ${path}: ${hostPath} is of type ${found?.type}, not ${type}`,
    );
  }
  const fileMode = node.fileMode ?? found?.fileMode;
  const device: OciDevice = {
    path,
    type: isComplete ? type : found!.type,
    major: isComplete ? (node.major ?? 0) : found!.major,
    minor: isComplete ? (node.minor ?? 0) : found!.minor,
    ...(fileMode === undefined ? {} : { fileMode }),
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  };
  return { device, hostPath, access: permissions === 'none' ? '' : permissions || 'rwm' };
}

async function nodeOnHost(path: string, mayBeMissing: boolean): Promise<OciDevice | undefined> {
  try {
    const stats = await lstat(path);
    if (stats.isFIFO()) return { path, type: 'p', major: 0, minor: 0, fileMode: stats.mode & 0o7777 };
    const device = deviceOf(stats, path);
    if (device !== undefined) return device;
    throw new PodwrightError('failed_precondition', 'it is no device');
  } catch (error) {
    if (mayBeMissing) return undefined;
    throw wrapError(`give CDI device node ${path}`, error, 'failed_precondition');
  }
}
