import { quantityMilliValue, quantityValue } from '@podwright/kube-api';

/** Resources reserved for everything on the node except pods. `auto` reserves a share of the host's memory or PIDs. */
export type SystemReserved = {
  memoryBytes: number | 'auto';
  pids: number | 'auto';
  /** CPU reserved, in millicores. */
  cpuMillis: number;
  ephemeralStorageBytes: number;
};

/** Upstream's default reservation. */
export const NOTHING_RESERVED: SystemReserved = { memoryBytes: 0, pids: 0, cpuMillis: 0, ephemeralStorageBytes: 0 };

/** Parses a reservation with KubeletConfiguration's resource names. */
export function reservedAmounts({
  memory = '0',
  pid = '0',
  cpu = '0',
  'ephemeral-storage': storage = '0',
}: Record<string, string>): SystemReserved & { memoryBytes: number; pids: number } {
  return {
    ephemeralStorageBytes: Number(quantityValue(storage)),
    memoryBytes: Number(quantityValue(memory)),
    pids: Number(quantityValue(pid)),
    cpuMillis: Number(quantityMilliValue(cpu)),
  };
}
