import { lstat } from 'node:fs/promises';
import { PodwrightError, wrapError } from '@podwright/base';
import { deviceOf } from '../oci/devices.ts';
import type { OciDevice, OciMount, OciSpec } from '../oci/spec.ts';
import { byDepth, deviceMount } from '../oci/spec-mounts.ts';
import type { CdiDeviceNode, CdiEdits } from './cdi-spec.ts';

/** A device node that is complete: what its specification leaves out is the machine's. */
type ResolvedNode = { device: OciDevice; access: string; hostPath: string };

/**
 * Makes a container's specification one with the devices' edits, as the CDI asks for: variables replace those of their name,
 * nodes and mounts those of their place. `failed_precondition` if the machine does not have a device's node.
 */
export async function applyCdiEdits(spec: OciSpec, edits: CdiEdits[]): Promise<OciSpec> {
  const nodes = await Promise.all(edits.flatMap(({ deviceNodes = [] }) => deviceNodes).map(resolveNode));
  const edited = edits.reduce(applyPlain, spec);
  return nodes.reduce(addNode, edited);
}

function applyPlain(spec: OciSpec, edits: CdiEdits): OciSpec {
  const { process, linux } = spec;
  const gids = (edits.additionalGids ?? []).filter((gid) => gid !== 0);
  const additionalGids = [...new Set([...(process.user.additionalGids ?? []), ...gids])];
  const mounts = (edits.mounts ?? []).map(mountOf);
  return {
    ...spec,
    process: {
      ...process,
      env: mergeEnvironment(process.env, edits.env ?? []),
      user: gids.length === 0 ? process.user : { ...process.user, additionalGids },
    },
    mounts: mounts.length === 0 ? spec.mounts : mergeMounts(spec.mounts, mounts),
    ...(edits.hooks === undefined ? {} : { hooks: addHooks(spec.hooks, edits.hooks) }),
    linux: edits.intelRdt === undefined ? linux : { ...linux, intelRdt: edits.intelRdt },
  };
}

function mergeEnvironment(env: string[], added: string[]): string[] {
  const merged = new Map([...env, ...added].map((entry) => [entry.split('=', 1)[0], entry]));
  return [...merged.values()];
}

function mountOf({
  hostPath,
  containerPath,
  options = [],
  type = '',
}: NonNullable<CdiEdits['mounts']>[number]): OciMount {
  const isBind = options.some((option) => option === 'bind' || option === 'rbind');
  return { destination: containerPath, source: hostPath, type: type === '' && isBind ? 'bind' : type, options };
}

function mergeMounts(mounts: OciMount[], added: OciMount[]): OciMount[] {
  const covered = new Set(added.map(({ destination }) => destination));
  return [...mounts.filter(({ destination }) => !covered.has(destination)), ...added].toSorted(byDepth);
}

function addHooks(hooks: OciSpec['hooks'] = {}, added: NonNullable<CdiEdits['hooks']>): OciSpec['hooks'] {
  const all = { ...hooks };
  for (const { hookName, ...hook } of added) all[hookName] = [...(all[hookName] ?? []), hook];
  return all;
}

function addNode(spec: OciSpec, { device, access, hostPath }: ResolvedNode): OciSpec {
  const { linux, process } = spec;
  const { uid, gid } = process.user;
  // A device of nobody in particular belongs to who uses it.
  const owned = { ...(uid > 0 ? { uid } : {}), ...(gid > 0 ? { gid } : {}), ...device };
  const others = (linux.devices ?? []).filter(({ path }) => path !== device.path);
  const { type, major, minor } = device;
  const rules = linux.resources?.devices ?? [];
  const rule = type === 'p' || access === '' ? [] : [{ allow: true, type, major, minor, access }];
  // In a user namespace no node can be made: it is mounted.
  const isMapped = linux.namespaces.some((namespace) => namespace.type === 'user');
  return {
    ...spec,
    mounts: isMapped ? mergeMounts(spec.mounts, [deviceMount({ path: device.path, hostPath })]) : spec.mounts,
    linux: {
      ...linux,
      devices: isMapped ? others : [...others, owned],
      resources: { ...linux.resources, devices: [...rules, ...rule] },
    },
  };
}

/** Fills in what a node's specification leaves out; one with type and number may be of a device that is not there. */
async function resolveNode(node: CdiDeviceNode): Promise<ResolvedNode> {
  const { path, hostPath = path, permissions = '', uid, gid } = node;
  const type = node.type === 'u' ? 'c' : (node.type ?? '');
  const isComplete = type === 'p' || (type !== '' && (node.major ?? 0) !== 0);
  const found = await nodeOnMachine(hostPath, isComplete);
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

async function nodeOnMachine(path: string, mayBeMissing: boolean): Promise<OciDevice | undefined> {
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
