import { availableParallelism } from 'node:os';
import * as z from 'zod';
import { atLeast, between } from './checks.ts';
import { composes, field, NO_ENTRIES, nothing, sets, setsNoOption } from './field.ts';
import { bool, boolTable, duration, int32, int64, shutdownPeriods } from './field-types.ts';
import { kubeletKey, secondsKey } from './toml-key.ts';

/** Fields for the node and the kubelet process. */
export const NODE_FIELDS = {
  maxPods: field(int32, 110, {
    flag: 'max-pods',
    about: 'maximum number of pods',
    key: kubeletKey('max_pods', z.int().positive(), 110),
    check: atLeast(0),
    effect: sets('maxPods'),
  }),
  podsPerCore: field(int32, 0, {
    flag: 'pods-per-core',
    about: 'maximum number of pods per CPU core, 0 for no limit',
    check: atLeast(0),
    effect: sets('maxPods', podsAtMost),
  }),
  oomScoreAdj: field(int32, -999, {
    flag: 'oom-score-adj',
    about: "the kubelet's oom_score_adj; the nearest value that the kernel permits is set",
    check: between(-1000, 1000),
    effect: sets('oomScoreAdj'),
    keepsZero: true,
  }),
  maxOpenFiles: field(int64, 1_000_000, {
    flag: 'max-open-files',
    about: 'maximum number of open files of the kubelet',
    check: atLeast(0),
    effect: nothing('Node.js raises the limit to the hard limit of the host'),
  }),
  failSwapOn: field(bool, true, {
    flag: 'fail-swap-on',
    about: 'do not start while the host has swap',
    effect: sets('requirements.noSwap'),
  }),
  failCgroupV1: field(bool, true, {
    flag: 'fail-cgroupv1',
    about: 'do not start on a host with cgroup v1',
    effect: setsNoOption,
  }),
  protectKernelDefaults: field(bool, false, {
    flag: 'protect-kernel-defaults',
    about: "do not start if kernel settings differ from upstream's defaults",
    effect: sets('requirements.kernelDefaults'),
  }),
  makeIPTablesUtilChains: field(bool, true, {
    flag: 'make-iptables-util-chains',
    about: 'maintain iptables chains for kube-proxy',
    effect: nothing('the kubelet creates no iptables rules'),
  }),
  iptablesMasqueradeBit: field(int32, 14, {
    about: 'bit of the packet mark that requests masquerading',
    check: between(0, 31),
    effect: nothing('the kubelet creates no iptables rules'),
    keepsZero: true,
  }),
  iptablesDropBit: field(int32, 15, {
    about: 'bit of the packet mark that requests dropping',
    check: between(0, 31),
    effect: nothing('the kubelet creates no iptables rules'),
    keepsZero: true,
  }),
  featureGates: field(boolTable, NO_ENTRIES, {
    flag: 'feature-gates',
    about: 'feature gates by name, see docs/kubelet-configuration/feature-gates.md',
    effect: composes('containerResources.memoryQos'),
  }),
  shutdownGracePeriod: field(duration, 0, {
    about: 'time that pods have to end before the host shuts down',
    key: secondsKey('shutdown_grace_period_seconds', z.int().min(0).max(1_000_000), 0),
    effect: composes('shutdownPeriods'),
  }),
  shutdownGracePeriodCriticalPods: field(duration, 0, {
    about: 'part of shutdownGracePeriod that is for critical pods',
    key: secondsKey('shutdown_critical_pods_seconds', z.int().min(0), 0),
    effect: composes('shutdownPeriods'),
  }),
  shutdownGracePeriodByPodPriority: field(shutdownPeriods, [], {
    about: 'time that pods have to end before the host shuts down, by pod priority',
    effect: composes('shutdownPeriods'),
  }),
};

function podsAtMost(perCore: number, maxPods: number): number {
  return perCore === 0 ? maxPods : Math.min(maxPods, perCore * availableParallelism());
}
