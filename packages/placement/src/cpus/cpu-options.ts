import { flagProblems, type PolicyFlags, readFlags } from '../topology/policy-flags.ts';

/** Policy options of the CPU manager (`cpuManagerPolicyOptions`). */
export type CpuPolicyOptions = {
  /** `full-pcpus-only`: containers do not share physical cores. */
  fullCores: boolean;
  /** `distribute-cpus-across-numa`: takes the same number of CPUs from each NUMA node. */
  acrossNodes: boolean;
  /** `align-by-socket`: NUMA nodes on the same socket are treated as equivalent. */
  alignBySocket: boolean;
  /** `distribute-cpus-across-cores`: takes each CPU from a different core. */
  acrossCores: boolean;
  /** `strict-cpu-reservation`: reserved CPUs are not in the shared pool either. */
  strictReservation: boolean;
  /** `prefer-align-cpus-by-uncorecache`: prefers CPUs that share a last-level cache. */
  byCache: boolean;
};

const FLAGS: PolicyFlags<keyof CpuPolicyOptions> = {
  'full-pcpus-only': { key: 'fullCores' },
  'distribute-cpus-across-numa': { key: 'acrossNodes' },
  'align-by-socket': { key: 'alignBySocket', alpha: true },
  'distribute-cpus-across-cores': { key: 'acrossCores', alpha: true },
  'strict-cpu-reservation': { key: 'strictReservation' },
  'prefer-align-cpus-by-uncorecache': { key: 'byCache' },
};

/** Pairs of options that upstream does not allow together. */
const APART = [
  ['full-pcpus-only', 'distribute-cpus-across-cores'],
  ['distribute-cpus-across-numa', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa'],
] as const;

/** Parses the options, which must be valid. */
export function cpuOptions(options: Record<string, string>): CpuPolicyOptions {
  const on = readFlags(options, FLAGS);
  const all = Object.values(FLAGS).map(({ key }) => [key, on.has(key)]);
  return Object.fromEntries(all) as CpuPolicyOptions;
}

export const NO_CPU_OPTIONS: CpuPolicyOptions = cpuOptions({});

/**
 * Returns problems with the options, as upstream's messages. `allowsAlpha`: whether the feature gate CPUManagerPolicyAlphaOptions is
 * enabled.
 */
export function cpuOptionProblems(options: Record<string, string>, allowsAlpha: boolean): string[] {
  const problems = flagProblems(options, FLAGS, { gate: 'CPUManagerPolicyAlphaOptions', isOn: allowsAlpha });
  const on = readFlags(options, FLAGS);
  const both = APART.filter((pair) => pair.every((name) => on.has(FLAGS[name]!.key)));
  return [...problems, ...both.map(([a, b]) => `${a} and ${b} cannot be used at the same time`)];
}
