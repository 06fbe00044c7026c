import { parseCpus, quantityValue } from '@podwright/kube-api';
import { cpuOptions, topologyOptions } from '@podwright/placement';
import * as z from 'zod';
import type { SystemReserved } from '../options/system-reserved.ts';
import { reservedAmounts } from '../options/system-reserved.ts';
import { between, cpuListProblems, fractionProblems, must, pidsLimitProblems, reserveProblems } from './checks.ts';
import { composes, field, NO_ENTRIES, only, onlyEmpty, sets, setsAll } from './field.ts';
import {
  bool,
  choice,
  duration,
  float,
  int64,
  memoryReservations,
  string,
  stringList,
  stringTable,
} from './field-types.ts';
import { convertedKey, kubeletKey, otherKey } from './toml-key.ts';

/** KubeletConfiguration fields for cgroups, reservations and resource managers. */
export const RESOURCE_FIELDS = {
  cgroupRoot: field(string, '', {
    flag: 'cgroup-root',
    about: 'parent cgroup of all pods',
    key: otherKey('cgroup_parent'),
    effect: sets('cgroupRoot', (parent, before) => parent || before),
  }),
  cgroupsPerQOS: field(bool, true, {
    flag: 'cgroups-per-qos',
    about: 'create cgroups for QoS classes and pods',
    effect: sets('cgroupRoot', (isOn, before) => (isOn ? before : '')),
  }),
  cgroupDriver: field(choice('cgroupfs', 'systemd'), 'cgroupfs', {
    flag: 'cgroup-driver',
    about: 'cgroup driver, used if the runtime does not report one',
    key: otherKey('runtime.cgroup_driver'),
    effect: sets('cgroupDriverFallback', (driver) => driver || 'cgroupfs'),
  }),
  kubeletCgroups: field(string, '', {
    flag: 'kubelet-cgroups',
    about: 'cgroup to move the kubelet to',
    effect: only([''], 'the kubelet stays in the cgroup in which it was started'),
  }),
  systemCgroups: field(string, '', {
    flag: 'system-cgroups',
    about: 'cgroup for all processes that are in no other cgroup',
    effect: only([''], 'processes of the host are not moved'),
  }),
  systemReserved: field(stringTable, NO_ENTRIES, {
    flag: 'system-reserved',
    about: 'resources reserved for the host: cpu, memory, pid, ephemeral-storage',
    key: otherKey('kubelet.system_reserved'),
    check: reserveProblems,
    effect: sets('systemReserved', reservedAmounts),
  }),
  kubeReserved: field(stringTable, NO_ENTRIES, {
    flag: 'kube-reserved',
    about: 'resources reserved for the kubelet and the runtime: cpu, memory, pid, ephemeral-storage',
    check: reserveProblems,
    effect: sets('systemReserved', withReserved),
  }),
  systemReservedCgroup: field(string, '', {
    flag: 'system-reserved-cgroup',
    about: 'cgroup whose limits are set to systemReserved',
    effect: composes('reservedCgroups'),
  }),
  kubeReservedCgroup: field(string, '', {
    flag: 'kube-reserved-cgroup',
    about: 'cgroup whose limits are set to kubeReserved',
    effect: composes('reservedCgroups'),
  }),
  enforceNodeAllocatable: field(stringList, ['pods'], {
    flag: 'enforce-node-allocatable',
    about:
      'which limits are enforced: pods, system-reserved, kube-reserved, system-reserved-compressible, kube-reserved-compressible, or none',
    key: convertedKey('enforce_node_allocatable', {
      schema: z.boolean(),
      fallback: true,
      toField: (isOn) => [isOn ? 'pods' : 'none'],
    }),
    effect: setsAll(
      sets('enforceNodeAllocatable', (kinds) => kinds.includes('pods')),
      composes('reservedCgroups'),
    ),
  }),
  reservedSystemCPUs: field(string, '', {
    flag: 'reserved-cpus',
    about: 'CPUs reserved for the host and the kubelet; replaces their cpu amounts',
    check: cpuListProblems,
    effect: setsAll(sets('placement.cpu.reserved', reservedCpus), sets('systemReserved.cpuMillis', millisOfCpus)),
  }),
  podPidsLimit: field(int64, -1, {
    flag: 'pod-max-pids',
    about: 'maximum number of processes and threads of a pod, -1 for no limit',
    key: kubeletKey(
      'pod_pids_limit',
      z
        .int()
        .min(-1)
        .refine((value) => value !== 0, 'must be at least 1, or -1 for any number'),
    ),
    check: pidsLimitProblems,
    effect: sets('podPidsLimit'),
    keepsZero: true,
  }),
  cpuCFSQuota: field(bool, true, {
    flag: 'cpu-cfs-quota',
    about: 'enforce CPU limits by CFS quota',
    effect: sets('containerResources.cpuCfsQuota'),
  }),
  cpuCFSQuotaPeriod: field(duration, 100, {
    flag: 'cpu-cfs-quota-period',
    about: 'CFS period of CPU limits',
    check: between(1, 1000, ['1ms', '1s']),
    effect: sets('containerResources.cpuCfsQuotaPeriodMicros', (ms) => Math.round(ms * 1000)),
    keepsZero: true,
  }),
  cpuManagerPolicy: field(choice('none', 'static'), 'none', {
    flag: 'cpu-manager-policy',
    about: 'CPU manager policy; static gives exclusive CPUs to Guaranteed pods',
    effect: sets('placement.cpu.policy', (policy) => policy || 'none'),
  }),
  cpuManagerPolicyOptions: field(stringTable, NO_ENTRIES, {
    flag: 'cpu-manager-policy-options',
    about: 'options of the CPU manager policy',
    effect: sets('placement.cpu.options', cpuOptions),
  }),
  cpuManagerReconcilePeriod: field(duration, 10_000, {
    flag: 'cpu-manager-reconcile-period',
    about: 'interval at which the CPU sets of containers are reconciled',
    check: (ms) => must(ms >= 1, 'must be at least 1ms'),
    effect: sets('placement.cpu.reconcilePeriodMs'),
  }),
  memoryManagerPolicy: field(choice('None', 'Static'), 'None', {
    flag: 'memory-manager-policy',
    about: 'memory manager policy; Static assigns NUMA nodes to Guaranteed pods',
    effect: sets('placement.memory.policy', (policy) => policy || 'None'),
  }),
  reservedMemory: field(memoryReservations, [], {
    flag: 'reserved-memory',
    about: 'memory and huge pages reserved on each NUMA node',
    effect: sets('placement.memory.reserved', (nodes) => nodes.map(memoryReservation)),
  }),
  topologyManagerPolicy: field(choice('none', 'best-effort', 'restricted', 'single-numa-node'), 'none', {
    flag: 'topology-manager-policy',
    about: 'how CPUs, memory and devices are aligned to NUMA nodes',
    effect: sets('placement.topology.policy', (policy) => policy || 'none'),
  }),
  topologyManagerScope: field(choice('container', 'pod'), 'container', {
    flag: 'topology-manager-scope',
    about: 'whether resources are aligned for each container or for the whole pod',
    effect: sets('placement.topology.scope', (scope) => scope || 'container'),
  }),
  topologyManagerPolicyOptions: field(stringTable, NO_ENTRIES, {
    flag: 'topology-manager-policy-options',
    about: 'options of the topology manager policy',
    effect: sets('placement.topology.options', topologyOptions),
  }),
  qosReserved: field(stringTable, NO_ENTRIES, {
    flag: 'qos-reserved',
    about: 'percentage of requests that is reserved from lower QoS classes',
    effect: onlyEmpty('requests are not reserved from lower QoS classes'),
  }),
  'memorySwap.swapBehavior': field(choice('NoSwap', 'LimitedSwap'), '', {
    about: 'whether pods may use swap; NoSwap if unset',
    effect: sets('containerResources.swapBehavior', (behavior) => behavior || 'NoSwap'),
  }),
  memoryThrottlingFactor: field(float, 0.9, {
    about: 'fraction of a memory limit at which containers are throttled, with the feature gate MemoryQoS',
    check: fractionProblems,
    effect: composes('containerResources.memoryQos'),
    keepsZero: true,
  }),
  memoryReservationPolicy: field(choice('None', 'TieredReservation'), 'None', {
    about: "whether the kernel protects containers' memory requests, with the feature gate MemoryQoS",
    effect: composes('containerResources.memoryQos'),
  }),
  singleProcessOOMKill: field(bool, undefined, {
    about:
      'kill a single process of a container that is out of memory, instead of all; the default is false on cgroup v2, and only true is valid on v1',
    effect: sets('containerResources.singleProcessOomKill', (isSingle, before) => isSingle ?? before),
  }),
};

/** Adds the amounts in `kubeReserved` to those in `systemReserved`; an amount of `auto` is replaced. */
function withReserved(amounts: Record<string, string>, before: SystemReserved): SystemReserved {
  const more = reservedAmounts(amounts);
  const sum = (a: number | 'auto', b: number) => (a === 'auto' ? b : a + b);
  return {
    memoryBytes: sum(before.memoryBytes, more.memoryBytes),
    pids: sum(before.pids, more.pids),
    cpuMillis: before.cpuMillis + more.cpuMillis,
    ephemeralStorageBytes: before.ephemeralStorageBytes + more.ephemeralStorageBytes,
  };
}

function reservedCpus(text: string, before: number[]): number[] {
  const cpus = parseCpus(text);
  return cpus.length === 0 ? before : cpus;
}

function millisOfCpus(text: string, before: number): number {
  const cpus = parseCpus(text);
  return cpus.length === 0 ? before : cpus.length * 1000;
}

function memoryReservation({ numaNode, limits }: { numaNode: number; limits: Record<string, string> }) {
  const bytes = Object.entries(limits).map(([name, size]) => [name, quantityValue(size)]);
  return { node: numaNode, limits: Object.fromEntries(bytes) as Record<string, bigint> };
}
