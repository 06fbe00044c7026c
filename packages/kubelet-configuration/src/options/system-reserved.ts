/** Resources reserved for everything but pods: amounts, or `auto` for a share of the host's. */
export type SystemReserved = {
  memoryBytes: number | 'auto';
  pids: number | 'auto';
  /** Thousandths of a core. */
  cpuMillis: number;
  ephemeralStorageBytes: number;
};

/** Upstream's default. */
export const NOTHING_RESERVED: SystemReserved = { memoryBytes: 0, pids: 0, cpuMillis: 0, ephemeralStorageBytes: 0 };
