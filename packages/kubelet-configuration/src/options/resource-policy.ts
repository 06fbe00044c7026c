/** How container requests and limits are enforced. Backquotes name KubeletConfiguration fields. */
export type ResourcePolicy = {
  /** `cpuCFSQuota`: whether CPU limits are enforced. */
  cpuCfsQuota: boolean;
  /** `cpuCFSQuotaPeriod` in microseconds. */
  cpuCfsQuotaPeriodMicros: number;
  /** `singleProcessOOMKill`: whether, on cgroup v2, the OOM killer kills a single process rather than the whole container. */
  singleProcessOomKill: boolean;
  /** `memorySwap.swapBehavior`: with `LimitedSwap`, Burstable pods may use swap in proportion to their memory requests. */
  swapBehavior: 'NoSwap' | 'LimitedSwap';
  /** Feature gate MemoryQoS: on cgroup v2, throttles containers before they reach their memory limits. Disabled if `undefined`. */
  memoryQos?: {
    /** `memoryThrottlingFactor`, from 0 to 1: where throttling begins, between the memory request (0) and the memory limit (1). */
    throttlingFactor: number;
    /** `memoryReservationPolicy`: `TieredReservation` protects requested memory from reclaim. */
    reservation: 'None' | 'TieredReservation';
  };
};

/** Upstream's default resource policy. */
export const DEFAULT_RESOURCE_POLICY: ResourcePolicy = {
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMicros: 100_000,
  singleProcessOomKill: false,
  swapBehavior: 'NoSwap',
};
