import { flagProblems, type PolicyFlags, readFlags } from '../topology/policy-flags.ts';

/** Policy options of the CPU manager (`cpuManagerPolicyOptions`). */
export type CpuPolicyOptions = {
  /** `full-pcpus-only`: containers never share a physical core. */
  fullCores: boolean;
  /** `distribute-cpus-across-numa`: takes equal numbers of CPUs from the NUMA nodes if one is not enough. */
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

/** Mutually exclusive pairs of options, as in upstream. */
const APART = [
  ['full-pcpus-only', 'distribute-cpus-across-cores'],
  ['distribute-cpus-across-numa', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa'],
] as const;

/** Parses already validated options. */
export function cpuOptions(options: Record<string, string>): CpuPolicyOptions {
  const on = readFlags(options, FLAGS);
  const all = Object.values(FLAGS).map(({ key }) => [key, on.has(key)]);
  return Object.fromEntries(all) as CpuPolicyOptions;
}

export const NO_CPU_OPTIONS: CpuPolicyOptions = cpuOptions({});

/**
 * Validates the options and returns upstream's error messages. `allowsAlpha`: whether the feature gate CPUManagerPolicyAlphaOptions is
 * enabled.
 */
export function cpuOptionProblems(options: Record<string, string>, allowsAlpha: boolean): string[] {
  const problems = flagProblems(options, FLAGS, { gate: 'CPUManagerPolicyAlphaOptions', isOn: allowsAlpha });
  const on = readFlags(options, FLAGS);
  const both = APART.filter((pair) => pair.every((name) => on.has(FLAGS[name]!.key)));
  return [...problems, ...both.map(([a, b]) => `${a} and ${b} cannot be used at the same time`)];
}
