import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { errorMessage, isErrno, PodwrightError, wrapError } from '@podwright/base';
import { deviceOf } from '../devices.ts';
import type { OciDevice } from '../spec.ts';
import type { ResolvedEdits, ResolvedNode } from './apply-edits.ts';
import { type CdiDeviceNode, type CdiEdits, type CdiSpec, decodeCdiSpec, MAX_SPEC_BYTES } from './cdi-spec.ts';

/** CDI's default directories: one for static specifications, and one for specifications that drivers generate on each boot. */
export const CDI_DIRECTORIES = ['/etc/cdi', '/var/run/cdi'];

/** Maximum number of specification files to read per directory. */
const MAX_FILES = 1000;

/** A decoded specification file. `rank`: the precedence of its directory; higher wins. */
type Loaded = { file: string; rank: number; spec: CdiSpec };

/** Returns the edits for the devices, with device nodes completed from the host. For the errors, see `findEdits` and `resolveNodes`. */
export async function resolveCdiDevices(
  names: string[],
  directories: string[] = CDI_DIRECTORIES,
): Promise<ResolvedEdits> {
  const edits = await findEdits(names, directories);
  return { edits, nodes: await resolveNodes(edits) };
}

/** Completes the device nodes in the edits. Throws `failed_precondition` if a device node does not exist on the host. */
export function resolveNodes(edits: CdiEdits[]): Promise<ResolvedNode[]> {
  return Promise.all(edits.flatMap(({ deviceNodes = [] }) => deviceNodes).map(resolveNode));
}

/**
 * Returns the edits for the devices, in the order of `names`. A specification's common edits come before the edits of its first device. The
 * directories are read again on each call, because drivers add and remove files. Later directories take precedence. A device that is
 * defined by two files in the same directory counts as missing. An unreadable file does not affect devices in other files.
 *
 * Throws `failed_precondition`, naming the missing devices and the unreadable files.
 */
async function findEdits(names: string[], directories: string[]): Promise<CdiEdits[]> {
  if (names.length === 0) return [];
  const problems: string[] = [];
  const loaded = await loadDirectories(directories, problems);
  const found = names.map((name) => ({ name, ...findDevice(name, loaded, problems) }));
  const missing = found.filter(({ from }) => from === undefined).map(({ name }) => name);
  if (missing.length > 0) {
    const details = problems.length === 0 ? '' : ` (${problems.join('; ')})`;
    throw new PodwrightError(
      'failed_precondition',
      `CDI device ${missing.join(', ')} is not in any specification in ${directories.join(' and ')}${details}`,
    );
  }
  const used = new Set<Loaded>();
  return found.flatMap(({ from, edits }) => {
    const common = used.has(from!) ? [] : [from!.spec.containerEdits ?? {}];
    used.add(from!);
    return [...common, edits!];
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
        if (!isErrno(error, 'ENOENT')) problems.push(errorMessage(error)); // ENOENT: a driver removed the file after readdir
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
    throw new PodwrightError('invalid_argument', `read CDI specification ${file}: it is not a file, or over 4 MiB`);
  } finally {
    await handle.close();
  }
}

function noneIfMissing(error: unknown): string[] {
  if (isErrno(error, 'ENOENT')) return [];
  throw error;
}

/** Fills in a device node's omitted fields from the host. A device node that specifies its type and number need not exist on the host. */
async function resolveNode(node: CdiDeviceNode): Promise<ResolvedNode> {
  const { path, hostPath = path, permissions = '', uid, gid } = node;
  const type = node.type === 'u' ? 'c' : (node.type ?? '');
  const isComplete = type === 'p' || (type !== '' && (node.major ?? 0) !== 0);
  const found = await nodeOnHost(hostPath, isComplete);
  if (!isComplete && type !== '' && type !== found?.type) {
    throw new PodwrightError(
      'failed_precondition',
      `add CDI device node ${path}: ${hostPath} is of type ${found?.type}, not ${type}`,
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
    throw new PodwrightError('failed_precondition', 'it is not a device');
  } catch (error) {
    if (mayBeMissing) return undefined;
    throw wrapError(`add CDI device node ${path}`, error, 'failed_precondition');
  }
}
