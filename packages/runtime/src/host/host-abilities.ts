import { dirname, join } from 'node:path';
import { revokeTraversal } from '@podwright/base';
import {
  type CgroupDriver,
  type CgroupHierarchy,
  cgroupExists,
  discoverCgroups,
  findInit,
  findProgram,
  type ProgramFinding,
  readVersion,
  takesScopeOomPolicy,
} from '@podwright/host';
import type { SelinuxContexts } from '@podwright/oci';
import { type IdMappingSupport, loadSystem, probeIdMapping } from '@podwright/system';
import type { OciFastPaths } from '../oci-runtime/oci-fast-paths.ts';
import { KNOWN_OCI_RUNTIMES, type OciRuntimeFinding, probeOciRuntime } from '../oci-runtime/oci-runtimes.ts';
import { type KernelAbilities, readKernelAbilities } from './kernel.ts';
import { readSelinuxContexts } from './selinux.ts';

/** Features of this host, as plain data. They are probed once, when the container runtime starts. */
export type HostAbilities = {
  kernel: KernelAbilities;
  cgroups: CgroupHierarchy;
  /** Whether the cgroup driver is systemd and systemd accepts `OOMPolicy` for scopes. */
  scopeOomPolicy: boolean;
  /** The host SELinux policy's container contexts; '' if SELinux is off. */
  selinux: SelinuxContexts;
  /** Whether the file system of the image layers supports ID-mapped mounts, which pods in user namespaces need. */
  idMapping: IdMappingSupport;
  /** The OCI runtimes found, in order of preference, with the results of their trials. */
  ociRuntimes: OciRuntimeFinding[];
  conmon: ProgramFinding | undefined;
  /** Path of the init program for pods' shared PID namespaces; undefined if there is none. */
  init: string | undefined;
};

export type HostProbeOptions = {
  /** Directory for the files of OCI runtime trials. */
  state: string;
  /** Directory on the file system of the image layers, where trial results are cached until the next reboot. */
  root: string;
  cgroupParent: string;
  /** Cgroup driver. If it is `systemd`, systemd's features are probed too. */
  cgroupDriver?: CgroupDriver | undefined;
  /** Name or path of an OCI runtime to try out in addition to the known ones; '' for none. */
  ociRuntime: string;
  /** Names or paths of the runtime handlers' OCI runtimes. */
  handlerPrograms?: string[];
  conmon: string;
  /** The fast paths that bypass OCI runtimes, to be verified by the trials. */
  fastPaths: OciFastPaths;
};

/** Probes the host's features. Missing programs are not an error here; they are reported by the components that need them. */
export async function probeHost(options: HostProbeOptions): Promise<HostAbilities> {
  const cgroups = await discoverCgroups();
  const kernel = await readKernelAbilities(cgroups);
  const selinux = await readSelinuxContexts(kernel.selinux);
  const pathsOf = (names: string[]) => names.flatMap((name) => findProgram(name) ?? []); // '' names no program
  const general = pathsOf([options.ociRuntime, ...KNOWN_OCI_RUNTIMES]);
  const programs = new Set([...general, ...pathsOf(options.handlerPrograms ?? [])]); // two names may share one path
  const probe = {
    directory: options.state,
    cacheDirectory: join(options.root, 'host'),
    cgroupParent: await existingCgroup(cgroups, options.cgroupParent),
    bootId: kernel.bootId,
    cgroups,
    fastPaths: options.fastPaths,
  };
  const [scopeOomPolicy, idMapping, conmon, ...found] = await Promise.all([
    options.cgroupDriver === 'systemd' && takesScopeOomPolicy(),
    probeIdMapping(loadSystem(), options.root),
    findConmon(options.conmon),
    ...[...programs].map((path) => probeOciRuntime(path, probe)),
  ]);
  revokeTraversal(options.state); // the trials made it traversable
  return {
    kernel,
    cgroups,
    scopeOomPolicy,
    selinux,
    idMapping,
    conmon,
    init: findInit(),
    ociRuntimes: found
      .filter((finding) => finding !== undefined)
      .map((finding) => ({ ...finding, onlyForHandlers: !general.includes(finding.path) })),
  };
}

/**
 * Returns the cgroup or its nearest existing ancestor. OCI runtime trials do not create `cgroupParent`: it would be left behind, and
 * removing it could race with another Podwright node starting on this host at the same time.
 */
async function existingCgroup(cgroups: CgroupHierarchy, path: string): Promise<string> {
  if (path === dirname(path) || (await cgroupExists(cgroups, path))) return path;
  return existingCgroup(cgroups, dirname(path));
}

async function findConmon(nameOrPath: string): Promise<ProgramFinding | undefined> {
  const path = findProgram(nameOrPath);
  return path === undefined ? undefined : { path, version: await readVersion(path).catch(() => '') };
}
