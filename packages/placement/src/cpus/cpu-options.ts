import { flagProblems, type PolicyFlags, readFlags } from '../topology/policy-flags.ts';

/** The policy options of the CPU manager (`cpuManagerPolicyOptions`). */
export type CpuPolicyOptions = {
  /** `full-pcpus-only`: nobody shares a core. */
  fullCores: boolean;
  /** `distribute-cpus-across-numa`: the same number of each NUMA node. */
  acrossNodes: boolean;
  /** `align-by-socket`: all NUMA nodes of a socket are alike. */
  alignBySocket: boolean;
  /** `distribute-cpus-across-cores`: each of another core. */
  acrossCores: boolean;
  /** `strict-cpu-reservation`: reserved processors are not even shared. */
  strictReservation: boolean;
  /** `prefer-align-cpus-by-uncorecache`: of one cache, if that can be. */
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

/** Pairs that upstream does not take together. */
const APART = [
  ['full-pcpus-only', 'distribute-cpus-across-cores'],
  ['distribute-cpus-across-numa', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa'],
] as const;

/** Expects options without problems. */
export function cpuOptions(options: Record<string, string>): CpuPolicyOptions {
  const on = readFlags(options, FLAGS);
  const all = Object.values(FLAGS).map(({ key }) => [key, on.has(key)]);
  return Object.fromEntries(all) as CpuPolicyOptions;
}

export const NO_CPU_OPTIONS: CpuPolicyOptions = cpuOptions({});

/** What is wrong with them, as upstream has it; `allowsAlpha` with the gate CPUManagerPolicyAlphaOptions. */
export function cpuOptionProblems(options: Record<string, string>, allowsAlpha: boolean): string[] {
  const problems = flagProblems(options, FLAGS, { gate: 'CPUManagerPolicyAlphaOptions', isOn: allowsAlpha });
  const on = readFlags(options, FLAGS);
  const both = APART.filter((pair) => pair.every((name) => on.has(FLAGS[name]!.key)));
  return [...problems, ...both.map(([a, b]) => `${a} and ${b} cannot be used at the same time`)];
}
