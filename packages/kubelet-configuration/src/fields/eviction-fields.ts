import * as z from 'zod';
import { composes, field, NO_ENTRIES, nothing, sets } from './field.ts';
import { bool, duration, int32, stringTable, thresholds } from './field-types.ts';
import { kubeletKey, secondsKey } from './toml-key.ts';

const amounts = z.record(z.string(), z.string());

/** Fields for pod eviction. */
export const EVICTION_FIELDS = {
  evictionHard: field(thresholds, undefined, {
    flag: 'eviction-hard',
    about: "thresholds at which pods are evicted at once; upstream's defaults if a KubeletConfiguration leaves it out",
    key: kubeletKey('eviction.hard', amounts),
    effect: composes('eviction.hard'),
  }),
  evictionSoft: field(thresholds, NO_ENTRIES, {
    flag: 'eviction-soft',
    about: 'thresholds at which pods are evicted after a grace period',
    key: kubeletKey('eviction.soft', amounts, {}),
    effect: sets('eviction.soft'),
  }),
  evictionSoftGracePeriod: field(stringTable, NO_ENTRIES, {
    flag: 'eviction-soft-grace-period',
    about: 'grace periods of the thresholds of evictionSoft',
    key: kubeletKey('eviction.soft_grace_period', amounts, {}),
    effect: sets('eviction.softGracePeriod'),
  }),
  evictionPressureTransitionPeriod: field(duration, 300_000, {
    flag: 'eviction-pressure-transition-period',
    about: 'minimum time that the node reports pressure',
    key: secondsKey('eviction.pressure_transition_period_seconds', z.int().min(0), 300),
    effect: sets('eviction.transitionMs'),
  }),
  evictionMaxPodGracePeriod: field(int32, 0, {
    flag: 'eviction-max-pod-grace-period',
    about: 'longest termination grace period of a pod that a soft threshold evicts, in seconds',
    key: kubeletKey('eviction.max_pod_grace_period_seconds', z.int().min(0), 0),
    effect: sets('eviction.maxPodGraceSeconds'),
  }),
  evictionMinimumReclaim: field(stringTable, NO_ENTRIES, {
    flag: 'eviction-minimum-reclaim',
    about: 'amount to free beyond a threshold',
    key: kubeletKey('eviction.minimum_reclaim', amounts, {}),
    effect: sets('eviction.minimumReclaim'),
  }),
  mergeDefaultEvictionSettings: field(bool, false, {
    about: 'keep the default thresholds that evictionHard does not name',
    effect: composes('eviction.hard'),
  }),
  kernelMemcgNotification: field(bool, false, {
    flag: 'kernel-memcg-notification',
    about: 'let the kernel notify the kubelet of memory thresholds',
    effect: nothing('memory is measured every ten seconds'),
  }),
};
