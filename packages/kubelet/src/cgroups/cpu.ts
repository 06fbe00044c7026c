/** CFS period in microseconds: the default in both the kernel and the kubelet. */
export const CPU_PERIOD_MICROS = 100_000n;
/** The largest quota that the kernel accepts (`MAX_BW` in kernel/sched/sched.h). It exceeds any machine's CPU time. */
const MAX_QUOTA_MICROS = 2n ** 44n - 1n;

/** Converts millicores to CPU shares (cgroup v1 `cpu.shares`, 2 to 262144). */
export function cpuShares(milliCpu: bigint): bigint {
  const shares = (milliCpu * 1024n) / 1000n;
  return shares < 2n ? 2n : shares > 262_144n ? 262_144n : shares;
}

/** Converts a limit in millicores to a CFS quota in microseconds per period; 0 means no limit. The kernel's minimum is 1 ms. */
export function cpuQuota(milliCpu: bigint, periodMicros = CPU_PERIOD_MICROS): bigint {
  if (milliCpu === 0n) return 0n;
  const quota = (milliCpu * periodMicros) / 1000n;
  if (quota < 1000n) return 1000n;
  return quota < MAX_QUOTA_MICROS ? quota : MAX_QUOTA_MICROS;
}
