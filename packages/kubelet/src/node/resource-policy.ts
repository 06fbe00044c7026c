/** How containers are held to what they ask for, as the fields of a KubeletConfiguration say. */
export type ResourcePolicy = {
  /** `cpuCFSQuota`: limits of CPU are enforced. */
  cpuCfsQuota: boolean;
  /** `cpuCFSQuotaPeriod` in microseconds. */
  cpuCfsQuotaPeriodMicros: number;
  /** `singleProcessOOMKill`: on cgroup v2, only the process that ran out of memory is killed, not its container whole. */
  singleProcessOomKill: boolean;
  /** `memorySwap.swapBehavior`: `LimitedSwap` gives burstable pods swap by their share of the memory. */
  swapBehavior: 'NoSwap' | 'LimitedSwap';
  /** The gate MemoryQoS: containers on cgroup v2 are throttled before they reach their limits. */
  memoryQos?: {
    /** `memoryThrottlingFactor`, from 0 to 1: where between request and limit it begins. */
    throttlingFactor: number;
    /** `memoryReservationPolicy`: `TieredReservation` keeps what was asked for from being reclaimed. */
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
