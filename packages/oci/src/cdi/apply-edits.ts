import type { OciDevice, OciMount, OciSpec } from '../spec.ts';
import { byDepth, deviceMount } from '../spec-mounts.ts';
import type { CdiEdits } from './cdi-spec.ts';

/** A complete device node. Fields that the CDI specification omits are taken from the device node on the host. */
export type ResolvedNode = { device: OciDevice; access: string; hostPath: string };

/** All edits to make to a container's OCI specification for its devices. `nodes`: the resolved device nodes of `edits`. */
export type ResolvedEdits = { edits: CdiEdits[]; nodes: ResolvedNode[] };

/**
 * Applies the devices' edits to a container's OCI specification as defined by CDI: an edit replaces the environment variable with the same
 * name, the device node with the same path, and the mount with the same destination. Pure.
 */
export function applyCdiEdits(spec: OciSpec, { edits, nodes }: ResolvedEdits): OciSpec {
  return nodes.reduce(addNode, edits.reduce(applyPlain, spec));
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
  // a device node with no uid or gid set belongs to the container's user
  const owned = { ...(uid > 0 ? { uid } : {}), ...(gid > 0 ? { gid } : {}), ...device };
  const others = (linux.devices ?? []).filter(({ path }) => path !== device.path);
  const { type, major, minor } = device;
  const rules = linux.resources?.devices ?? [];
  const rule = type === 'p' || access === '' ? [] : [{ allow: true, type, major, minor, access }];
  // mknod is not permitted in a user namespace, so the host's device node is bind-mounted
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
