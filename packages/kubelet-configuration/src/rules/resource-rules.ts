import { isQuantity, parseQuantity } from '@podwright/kube-api';
import { cpuOptionProblems, topologyOptionProblems } from '@podwright/placement';
import type { FieldName } from '../fields/field-table.ts';
import { type ThresholdSettings, thresholdProblems } from '../thresholds/thresholds.ts';
import { must, type Rule } from './rule.ts';

const ENFORCEMENTS = [
  'pods',
  'none',
  'system-reserved',
  'system-reserved-compressible',
  'kube-reserved',
  'kube-reserved-compressible',
];

const EVICTION_FIELDS: Record<keyof ThresholdSettings, FieldName> = {
  hard: 'evictionHard',
  soft: 'evictionSoft',
  softGracePeriod: 'evictionSoftGracePeriod',
  minimumReclaim: 'evictionMinimumReclaim',
};

const enforcement: Rule = (configuration) => {
  const { enforceNodeAllocatable: kinds, cgroupsPerQOS } = configuration;
  const field = 'enforceNodeAllocatable';
  const enforces = (owner: string) => kinds.some((kind) => kind.startsWith(`${owner}-reserved`));
  return [
    ...kinds
      .filter((kind) => !ENFORCEMENTS.includes(kind))
      .flatMap((kind) => must(false, field, `${kind.slice(0, 60)} is not one of ${ENFORCEMENTS.join(', ')}`)),
    ...(['system', 'kube'] as const).flatMap((owner) => [
      ...must(
        !enforces(owner) || configuration[`${owner}ReservedCgroup`] !== '',
        `${owner}ReservedCgroup`,
        `must be set because enforceNodeAllocatable has ${owner}-reserved`,
      ),
      ...must(
        !['', '-compressible'].every((kind) => kinds.includes(`${owner}-reserved${kind}`)),
        field,
        `${owner}-reserved cannot be combined with ${owner}-reserved-compressible`,
      ),
    ]),
    ...must(new Set(kinds).size === kinds.length, field, 'has a duplicate'),
    ...must(!kinds.includes('none') || kinds.length === 1, field, 'none cannot be combined with other values'),
    ...must(cgroupsPerQOS || kinds.every((kind) => kind === 'none'), field, 'needs cgroupsPerQOS; set it to none'),
  ];
};

const cgroups: Rule = ({ cgroupRoot, cgroupsPerQOS, systemCgroups }) => [
  ...must(cgroupRoot === '' || cgroupRoot.startsWith('/'), 'cgroupRoot', 'must begin with "/"'),
  ...must(cgroupRoot === '' || cgroupsPerQOS, 'cgroupRoot', 'has no meaning while cgroupsPerQOS is false'),
  ...must(systemCgroups === '' || cgroupRoot !== '', 'systemCgroups', 'needs cgroupRoot'),
];

const memory: Rule = (configuration) => {
  const gates = configuration.featureGates;
  const tiered = configuration.memoryReservationPolicy === 'TieredReservation';
  return must(
    !tiered || gates.MemoryQoS === true,
    'memoryReservationPolicy',
    'TieredReservation needs the feature gate MemoryQoS',
  );
};

const oomKill: Rule = ({ singleProcessOOMKill: single }, host) => {
  const isWell = host.cgroupVersion !== 'v1' || single !== false;
  return must(isWell, 'singleProcessOOMKill', 'must not be false on cgroup v1');
};

const processors: Rule = ({ reservedSystemCPUs: reserved, systemReservedCgroup, kubeReservedCgroup }) =>
  must(
    reserved === '' || (systemReservedCgroup === '' && kubeReservedCgroup === ''),
    'reservedSystemCPUs',
    'cannot be combined with systemReservedCgroup or kubeReservedCgroup',
  );

const policies: Rule = (configuration) => {
  const gates = configuration.featureGates;
  const cpu = configuration.cpuManagerPolicyOptions;
  const topology = configuration.topologyManagerPolicyOptions;
  const cpuField = 'cpuManagerPolicyOptions';
  const alignsBySocket = ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(cpu['align-by-socket'] ?? '');
  const isSingle = configuration.topologyManagerPolicy === 'single-numa-node';
  return [
    ...cpuOptionProblems(cpu, gates.CPUManagerPolicyAlphaOptions === true).flatMap((problem) =>
      must(false, cpuField, problem),
    ),
    ...must(
      configuration.cpuManagerPolicy === 'static' || Object.keys(cpu).length === 0,
      cpuField,
      'is for cpuManagerPolicy static',
    ),
    ...must(
      !alignsBySocket || !isSingle,
      cpuField,
      'align-by-socket cannot be combined with topologyManagerPolicy single-numa-node',
    ),
    ...topologyOptionProblems(topology).flatMap((problem) => must(false, 'topologyManagerPolicyOptions', problem)),
  ];
};

/** Checks that reservedMemory lists each resource of a NUMA node at most once. */
const reservedMemory: Rule = ({ reservedMemory: all, memoryManagerPolicy }) => {
  const field = 'reservedMemory';
  const limits = all.flatMap((one) =>
    Object.entries(one.limits).map(([name, size]) => ({ node: one.numaNode, name, size })),
  );
  const names = limits.map(({ node, name }) => `${name.slice(0, 60)} of node ${node}`);
  return [
    ...limits.flatMap(({ name, size }) => [
      ...must(
        name === 'memory' || /^hugepages-\d+[KMGT]i$/.test(name),
        field,
        `cannot reserve ${name.slice(0, 60)}, only memory and hugepages-<size>`,
      ),
      ...must(
        isQuantity(size) && parseQuantity(size).nanos > 0n,
        field,
        `must reserve more than 0 of ${name.slice(0, 60)}`,
      ),
    ]),
    ...must(new Set(names).size === names.length, field, 'has a duplicate'),
    ...must(
      memoryManagerPolicy === 'None' || limits.some(({ name }) => name === 'memory'),
      field,
      'must reserve memory if memoryManagerPolicy is Static',
    ),
  ];
};

const eviction: Rule = (configuration) => {
  const { evictionHard: hard = {}, evictionSoft: soft } = configuration;
  const { evictionSoftGracePeriod: softGracePeriod, evictionMinimumReclaim: minimumReclaim } = configuration;
  const problems = thresholdProblems({ hard, soft, softGracePeriod, minimumReclaim });
  return problems.flatMap(({ setting, message }) => must(false, EVICTION_FIELDS[setting], message));
};

export const RESOURCE_RULES: Rule[] = [
  enforcement,
  cgroups,
  memory,
  oomKill,
  processors,
  eviction,
  policies,
  reservedMemory,
];
