import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CgroupHierarchy, pathExists, treeOf } from '@podwright/host';
import type { SpecHost } from '@podwright/oci';
import { capabilitiesOfMask } from '@podwright/oci';
import { type MountEntry, readMounts } from '@podwright/system';

/** Kernel features available to this process. */
export type KernelAbilities = SpecHost & {
  /** Kernel release, as printed by `uname -r`. */
  release: string;
  bootId: string;
  /** Effective capabilities of this process. `capabilities` is its bounding set. */
  effectiveCapabilities: string[];
  seccomp: boolean;
  apparmor: boolean;
  selinux: boolean;
  userNamespaces: boolean;
};

/** Reads the kernel's features from /proc and /sys, without trying any of them. */
export async function readKernelAbilities(cgroups: CgroupHierarchy): Promise<KernelAbilities> {
  const [status, limits, release, bootId, ownOomScoreAdj, apparmor, selinux, userNamespaces] = await Promise.all([
    readFile('/proc/self/status', 'utf8'),
    readFile('/proc/self/limits', 'utf8'),
    readText('/proc/sys/kernel/osrelease'),
    readText('/proc/sys/kernel/random/boot_id'),
    readText('/proc/self/oom_score_adj'),
    readText('/sys/module/apparmor/parameters/enabled'),
    pathExists('/sys/fs/selinux/enforce'),
    readText('/proc/sys/user/max_user_namespaces'),
  ]);
  const effectiveCapabilities = capabilitiesOfMask(statusField(status, 'CapEff') ?? '0');
  return {
    release,
    bootId,
    capabilities: capabilitiesOfMask(statusField(status, 'CapBnd') ?? '0'),
    effectiveCapabilities,
    seccomp: statusField(status, 'Seccomp') !== undefined,
    apparmor: apparmor === 'Y' && (await pathExists('/sys/kernel/security/apparmor/profiles')),
    selinux,
    userNamespaces: Number(userNamespaces) > 0,
    cgroupMode: cgroups.mode,
    cgroupMountOptions: cgroupMountOptions(cgroups.mode === 'v2' ? readMounts() : []),
    swapLimit: await canLimitSwap(cgroups),
    // on a hybrid host, OCI runtimes set no limits in the v2 hierarchy, so a hugetlb controller there does not count
    hugetlb: treeOf(cgroups, 'hugetlb')?.version === (cgroups.mode === 'v2' ? 2 : 1),
    openFiles: Number(/^Max open files +\d+ +(\d+)/m.exec(limits)![1]), // never unlimited, because fs.nr_open is its maximum
    minimumOomScoreAdj: minimumOomScoreAdj(effectiveCapabilities, Number(ownOomScoreAdj)),
    architecture: process.arch,
  };
}

/** Returns the superblock options of the cgroup v2 hierarchy, shared by all of its mounts (cgroup-v2.rst, Mounting). */
export function cgroupMountOptions(mounts: MountEntry[]): string[] {
  const options = mounts.find(({ type }) => type === 'cgroup2')?.superOptions ?? [];
  return options.filter((option) => ['nsdelegate', 'memory_recursiveprot'].includes(option));
}

/** Returns the lowest oom_score_adj that this process may set. Without CAP_SYS_RESOURCE, this is the inherited value (`own`). */
export function minimumOomScoreAdj(effectiveCapabilities: string[], own: number): number {
  return effectiveCapabilities.includes('CAP_SYS_RESOURCE') ? -1000 : own;
}

/** Returns a field of /proc/PID/status; `undefined` if this kernel does not report it. */
export function statusField(status: string, name: string): string | undefined {
  return new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1];
}

/**
 * Whether swap can be limited, which requires a kernel booted with swap accounting. The v2 root cgroup has no `memory.swap.*` files, so
 * swap accounting is assumed if this process is in the root cgroup.
 */
async function canLimitSwap(cgroups: CgroupHierarchy): Promise<boolean> {
  const tree = treeOf(cgroups, 'memory');
  if (tree?.version === 1) return await pathExists(join(tree.mountPoint, 'memory.memsw.limit_in_bytes'));
  if (tree === undefined) return false;
  const own = (await readText('/proc/self/cgroup')).split('\n').find((line) => line.startsWith('0::'));
  const path = own?.slice('0::'.length) ?? '/';
  return path === '/' || (await pathExists(join(tree.mountPoint, path, 'memory.swap.max')));
}

async function readText(path: string): Promise<string> {
  return (await readFile(path, 'utf8').catch(() => '')).trim();
}
