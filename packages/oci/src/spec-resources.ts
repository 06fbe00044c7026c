import { PodwrightError } from '@podwright/base';
import type { OciLinuxResources, OciSpec } from './spec.ts';
import type { SpecDevice, SpecHost, SpecResources } from './spec-input.ts';

/**
 * Computes the oom_score_adj of the container's process: the requested value, but no lower than the lowest value that this process may set.
 */
export function computeOomScoreAdj({ oomScoreAdj }: SpecResources, { minimumOomScoreAdj }: SpecHost): number {
  return Math.max(oomScoreAdj, minimumOomScoreAdj);
}

/** Replaces the resource limits of an OCI spec. Keeps its device rules, and limits that clients cannot set but NRI plugins can. */
export function withResources(spec: OciSpec, limits: OciLinuxResources): OciSpec {
  const { cpu, memory, hugepageLimits: _, unified: __, ...others } = spec.linux.resources ?? {};
  const { shares: _s, quota: _q, period: _p, cpus: _c, mems: _m, ...otherCpu } = cpu ?? {};
  const { limit: _l, swap: _w, ...otherMemory } = memory ?? {};
  const resources = { ...others, ...limits };
  if (!isEmpty(otherCpu)) resources.cpu = { ...otherCpu, ...limits.cpu };
  if (!isEmpty(otherMemory)) resources.memory = { ...otherMemory, ...limits.memory };
  return { ...spec, linux: { ...spec.linux, resources } };
}

/**
 * Converts resource limits to OCI format, omitting those that the host does not support. Throws `invalid_argument` for cgroup v2 files on a
 * cgroup v1 host, which runc and crun would reject.
 */
export function computeResources(resources: SpecResources, host: SpecHost): OciLinuxResources {
  const set = <T extends object>(value: T): Partial<T> =>
    Object.fromEntries(Object.entries(value).filter(([, item]) => item !== 0 && item !== '')) as Partial<T>;
  const cpu = set({
    shares: resources.cpuShares,
    quota: resources.cpuQuota,
    period: resources.cpuPeriod,
    cpus: resources.cpusetCpus,
    mems: resources.cpusetMems,
  });
  // As in other CRI runtimes, if no swap limit is requested, a container with a memory limit may not swap, and a container without one may.
  const swap = host.swapLimit ? resources.memorySwapLimitBytes || resources.memoryLimitBytes : 0;
  const memory = set({ limit: resources.memoryLimitBytes, swap });
  const hugepages = host.hugetlb ? resources.hugepageLimits : [];
  const { unified } = resources;
  const [file] = Object.keys(unified);
  if (file !== undefined && host.cgroupMode !== 'v2')
    throw new PodwrightError(
      'invalid_argument',
      `set unified ${file}: this host has cgroup v1, which has no such files`,
    );
  return {
    ...(isEmpty(cpu) ? {} : { cpu }),
    ...(isEmpty(memory) ? {} : { memory }),
    ...(resources.pidsLimit === 0 ? {} : { pids: { limit: resources.pidsLimit } }),
    ...(hugepages.length === 0
      ? {}
      : { hugepageLimits: hugepages.map(({ pageSize, limitBytes }) => ({ pageSize, limit: limitBytes })) }),
    ...(isEmpty(unified) ? {} : { unified }),
  };
}

/**
 * Devices that every container may use: null, zero, full, random, urandom, tty, ptmx and the container's own terminals. The host's console
 * (5:1), for which a container could create a device node, is not included: the container's /dev/console is one of its own terminals.
 */
const ORDINARY_DEVICES = [
  { major: 1, minor: 3 },
  { major: 1, minor: 5 },
  { major: 1, minor: 7 },
  { major: 1, minor: 8 },
  { major: 1, minor: 9 },
  { major: 5, minor: 0 },
  { major: 5, minor: 2 },
  { major: 136 },
];

/** Computes the device cgroup rules: all devices for a privileged container, otherwise the ordinary and the requested ones. */
export function computeDeviceRules(
  privileged: boolean,
  devices: SpecDevice[],
): NonNullable<OciLinuxResources['devices']> {
  if (privileged) return [{ allow: true, access: 'rwm' }];
  return [
    { allow: false, access: 'rwm' },
    ...ORDINARY_DEVICES.map((device) => ({ allow: true, type: 'c', access: 'rwm', ...device })),
    ...devices.map(({ type, major, minor, access }) => ({ allow: true, type, major, minor, access })),
  ];
}

const isEmpty = (value: object) => Object.keys(value).length === 0;
