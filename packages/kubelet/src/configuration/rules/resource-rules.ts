import { isQuantity, parseQuantity } from '../../api/quantity.ts';
import type { KubeletConfiguration } from '../fields/field-table.ts';
import { must, type Problem, type Rule } from './rule.ts';

const RESERVED = ['cpu', 'memory', 'pid', 'ephemeral-storage'];
const ENFORCEMENTS = [
  'pods',
  'none',
  'system-reserved',
  'system-reserved-compressible',
  'kube-reserved',
  'kube-reserved-compressible',
];

const reserves: Rule = (configuration) => [
  ...reserve(configuration, 'systemReserved'),
  ...reserve(configuration, 'kubeReserved'),
];

function reserve(configuration: KubeletConfiguration, field: 'systemReserved' | 'kubeReserved'): Problem[] {
  return Object.entries(configuration[field]).flatMap(([name, amount]) => {
    if (!RESERVED.includes(name))
      return must(false, field, `cannot keep ${name.slice(0, 60)} back, only ${RESERVED.join(', ')}`);
    const isAmount = isQuantity(amount) && parseQuantity(amount).nanos >= 0n;
    return must(
      isAmount,
      field,
      `${name} must be an amount such as 500m or 1Gi, got ${JSON.stringify(amount.slice(0, 60))}`,
    );
  });
}

const enforcement: Rule = (configuration) => {
  const { enforceNodeAllocatable: kinds, cgroupsPerQOS } = configuration;
  const field = 'enforceNodeAllocatable';
  const enforces = (owner: string) => kinds.some((kind) => kind.startsWith(`${owner}-reserved`));
  return [
    ...kinds
      .filter((kind) => !ENFORCEMENTS.includes(kind))
      .flatMap((kind) => must(false, field, `${kind.slice(0, 60)} is none of ${ENFORCEMENTS.join(', ')}`)),
    ...(['system', 'kube'] as const).flatMap((owner) => [
      ...must(
        !enforces(owner) || configuration[`${owner}ReservedCgroup`] !== '',
        `${owner}ReservedCgroup`,
        `must be given where enforceNodeAllocatable has ${owner}-reserved`,
      ),
      ...must(
        !['', '-compressible'].every((kind) => kinds.includes(`${owner}-reserved${kind}`)),
        field,
        `${owner}-reserved cannot stand beside ${owner}-reserved-compressible`,
      ),
    ]),
    ...must(new Set(kinds).size === kinds.length, field, 'names something twice'),
    ...must(!kinds.includes('none') || kinds.length === 1, field, 'none stands alone'),
    ...must(cgroupsPerQOS || kinds.every((kind) => kind === 'none'), field, 'needs cgroupsPerQOS; set it to none'),
  ];
};

const cgroups: Rule = ({ cgroupRoot, cgroupsPerQOS, systemCgroups }) => [
  ...must(cgroupRoot === '' || cgroupRoot.startsWith('/'), 'cgroupRoot', 'must begin with "/"'),
  ...must(cgroupRoot === '' || cgroupsPerQOS, 'cgroupRoot', 'has no meaning while cgroupsPerQOS is false'),
  ...must(systemCgroups === '' || cgroupRoot !== '', 'systemCgroups', 'needs cgroupRoot'),
];

const pids: Rule = ({ podPidsLimit }) =>
  must(podPidsLimit !== 0, 'podPidsLimit', 'must be at least 1, or -1 for any number');

const memory: Rule = (configuration) => {
  const factor = configuration.memoryThrottlingFactor;
  const gates: Record<string, boolean> = configuration.featureGates;
  const tiered = configuration.memoryReservationPolicy === 'TieredReservation';
  return [
    ...must(factor > 0 && factor <= 1, 'memoryThrottlingFactor', 'must be more than 0 and at most 1'),
    ...must(
      !tiered || gates.MemoryQoS === true,
      'memoryReservationPolicy',
      'TieredReservation needs the feature gate MemoryQoS',
    ),
  ];
};

const oomKill: Rule = ({ singleProcessOOMKill: single }, host) => {
  const isWell = host.cgroupVersion !== 'v1' || single !== false;
  return must(isWell, 'singleProcessOOMKill', 'must not be false on cgroup v1');
};

const processors: Rule = ({ reservedSystemCPUs: reserved, systemReservedCgroup, kubeReservedCgroup }) => [
  ...must(
    reserved === '' || /^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(reserved),
    'reservedSystemCPUs',
    'must be a list such as 0,2-3',
  ),
  ...must(
    reserved === '' || (systemReservedCgroup === '' && kubeReservedCgroup === ''),
    'reservedSystemCPUs',
    'cannot stand beside systemReservedCgroup or kubeReservedCgroup',
  ),
];

/** In nanoseconds upstream; in milliseconds here. */
const quota: Rule = ({ cpuCFSQuotaPeriod: period }) =>
  must(period >= 1 && period <= 1000, 'cpuCFSQuotaPeriod', 'must be between 1ms and 1s');

export const RESOURCE_RULES: Rule[] = [reserves, enforcement, cgroups, pids, memory, oomKill, processors, quota];
