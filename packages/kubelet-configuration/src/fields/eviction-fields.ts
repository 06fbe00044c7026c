import { field, nothing, sets } from './field.ts';
import { bool, duration, int32, stringTable, thresholds } from './field-types.ts';

/** Fields about the eviction of pods. */
export const EVICTION_FIELDS = {
  evictionHard: field(thresholds, undefined, {
    flag: 'eviction-hard',
    about: "thresholds at which pods are evicted at once; upstream's defaults if a KubeletConfiguration leaves it out",
    key: 'kubelet.eviction.hard',
    effect: sets('eviction'),
  }),
  evictionSoft: field(
    thresholds,
    {},
    {
      flag: 'eviction-soft',
      about: 'thresholds at which pods are evicted after a grace period',
      key: 'kubelet.eviction.soft',
      effect: sets('eviction'),
    },
  ),
  evictionSoftGracePeriod: field(
    stringTable,
    {},
    {
      flag: 'eviction-soft-grace-period',
      about: 'grace periods of the thresholds of evictionSoft',
      key: 'kubelet.eviction.soft_grace_period',
      effect: sets('eviction'),
    },
  ),
  evictionPressureTransitionPeriod: field(duration, 300_000, {
    flag: 'eviction-pressure-transition-period',
    about: 'minimum time that the node reports pressure',
    key: 'kubelet.eviction.pressure_transition_period_seconds',
    effect: sets('eviction'),
  }),
  evictionMaxPodGracePeriod: field(int32, 0, {
    flag: 'eviction-max-pod-grace-period',
    about: 'longest termination grace period of a pod that a soft threshold evicts, in seconds',
    key: 'kubelet.eviction.max_pod_grace_period_seconds',
    effect: sets('eviction'),
  }),
  evictionMinimumReclaim: field(
    stringTable,
    {},
    {
      flag: 'eviction-minimum-reclaim',
      about: 'amount to free beyond a threshold',
      key: 'kubelet.eviction.minimum_reclaim',
      effect: sets('eviction'),
    },
  ),
  mergeDefaultEvictionSettings: field(bool, false, {
    about: 'keep the default thresholds that evictionHard does not name',
    effect: sets('eviction'),
  }),
  kernelMemcgNotification: field(bool, false, {
    flag: 'kernel-memcg-notification',
    about: 'let the kernel notify the kubelet of memory thresholds',
    effect: nothing('memory is measured every ten seconds'),
  }),
};
