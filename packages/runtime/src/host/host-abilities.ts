import { dirname, join } from 'node:path';
import {
  type CgroupDriver,
  type CgroupHierarchy,
  cgroupExists,
  closePassage,
  discoverCgroups,
  findProgram,
  type ProgramFinding,
  readVersion,
  takesScopeOomPolicy,
} from '@podwright/base';
import { type IdMappingSupport, loadSystem, probeIdMapping } from '@podwright/system';
import type { SelinuxContexts } from '../oci/selinux.ts';
import { KNOWN_OCI_RUNTIMES, type OciRuntimeFinding, probeOciRuntime } from '../oci-runtime/oci-runtimes.ts';
import { type KernelAbilities, readKernelAbilities } from './kernel.ts';
import { readSelinuxContexts } from './selinux.ts';

/** What this host can do, found out once at the start; plain data, to be printed. */
export type HostAbilities = {
  kernel: KernelAbilities;
  cgroups: CgroupHierarchy;
  /** systemd is asked for cgroups, and takes `OOMPolicy` for scopes. */
  scopeOomPolicy: boolean;
  /** Contexts of containers in the host's SELinux policy; '' without SELinux. */
  selinux: SelinuxContexts;
  /** What pods in user namespaces need of the file system of image layers. */
  idMapping: IdMappingSupport;
  /** In order of preference. */
  ociRuntimes: OciRuntimeFinding[];
  conmon: ProgramFinding | undefined;
};

export type HostProbeOptions = {
  /** Directory in which runtimes are tried. */
  state: string;
  /** Directory on the file system of image layers, in which findings are kept until the host is rebooted. */
  root: string;
  cgroupParent: string;
  /** `systemd` has it asked what it can do. */
  cgroupDriver?: CgroupDriver | undefined;
  /** Name or path, '' for the known ones alone. */
  ociRuntime: string;
  /** Names or paths of OCI runtimes that runtime handlers name. */
  handlerPrograms?: string[];
  conmon: string;
};

/** Finds out what the host can do. Missing programs are no error here, but for what needs them. */
export async function probeHost(options: HostProbeOptions): Promise<HostAbilities> {
  const cgroups = await discoverCgroups();
  const kernel = await readKernelAbilities(cgroups);
  const selinux = await readSelinuxContexts(kernel.selinux);
  const asked = [options.ociRuntime, ...KNOWN_OCI_RUNTIMES, ...(options.handlerPrograms ?? [])];
  const programs = new Set(asked.flatMap((name) => (name === '' ? [] : (findProgram(name) ?? [])))); // some have two names
  const probe = {
    directory: options.state,
    cacheDirectory: join(options.root, 'host'),
    cgroupParent: await existingCgroup(cgroups, options.cgroupParent),
    bootId: kernel.bootId,
    cgroups,
  };
  const [scopeOomPolicy, idMapping, conmon, ...found] = await Promise.all([
    options.cgroupDriver === 'systemd' && takesScopeOomPolicy(),
    probeIdMapping(loadSystem(), options.root),
    findConmon(options.conmon),
    ...[...programs].map((path) => probeOciRuntime(path, probe)),
  ]);
  closePassage(options.state); // trials have opened it
  return {
    kernel,
    cgroups,
    scopeOomPolicy,
    selinux,
    idMapping,
    conmon,
    ociRuntimes: found.filter((finding) => finding !== undefined),
  };
}

/**
 * The cgroup, or the nearest above it that is there: trials make none that would stay, and remove none, which a node that starts
 * beside them may be about to use.
 */
async function existingCgroup(cgroups: CgroupHierarchy, path: string): Promise<string> {
  if (path === dirname(path) || (await cgroupExists(cgroups, path))) return path;
  return existingCgroup(cgroups, dirname(path));
}

async function findConmon(nameOrPath: string): Promise<ProgramFinding | undefined> {
  const path = findProgram(nameOrPath);
  return path === undefined ? undefined : { path, version: await readVersion(path).catch(() => '') };
}
