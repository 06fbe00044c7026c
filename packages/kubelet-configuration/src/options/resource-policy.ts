/** How limits and requests of containers are enforced. The names are fields of KubeletConfiguration. */
export type ResourcePolicy = {
  /** `cpuCFSQuota`: whether CPU limits are enforced. */
  cpuCfsQuota: boolean;
  /** `cpuCFSQuotaPeriod` in microseconds. */
  cpuCfsQuotaPeriodMicros: number;
  /** `singleProcessOOMKill`: whether, on cgroup v2, an OOM kills a single process rather than the whole container. */
  singleProcessOomKill: boolean;
  /** `memorySwap.swapBehavior`: with `LimitedSwap`, Burstable pods get swap in proportion to their memory requests. */
  swapBehavior: 'NoSwap' | 'LimitedSwap';
  /**
   * Feature gate MemoryQoS: on cgroup v2, containers are throttled before they reach their memory limits. Disabled if
   * undefined.
   */
  memoryQos?: {
    /** `memoryThrottlingFactor`, from 0 to 1: how far above the request, on the way to the limit, throttling begins. */
    throttlingFactor: number;
    /** `memoryReservationPolicy`: `TieredReservation` protects requested memory from reclaim. */
    reservation: 'None' | 'TieredReservation';
  };
};

/** Upstream's defaults. */
export const DEFAULT_RESOURCE_POLICY: ResourcePolicy = {
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMicros: 100_000,
  singleProcessOomKill: false,
  swapBehavior: 'NoSwap',
};
