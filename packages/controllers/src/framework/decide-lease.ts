/** Decides from a Lease whether this process may lead (client-go's leaderelection). Pure. */
import { formatMicroTime, type Lease } from '@podwright/kube-api';

/** Another process may lead after this time without a renewal (leader-elect-lease-duration). */
const LEASE_SECONDS = 15;

/** A Lease as stored by the API server. */
export type LeaderLease = Lease & { spec?: { acquireTime?: string; leaseTransitions?: number } };

/**
 * `record` is the Lease's spec when last read; `sinceMs` is when this spec was first read, on a monotonic clock. The times in the Lease are
 * ignored, because the clocks of hosts differ.
 */
export type SeenLease = { record: string; sinceMs: number };

export type LeaseInput = {
  lease: LeaderLease | undefined;
  seen: SeenLease | undefined;
  identity: string;
  /** The current time on the same monotonic clock as `sinceMs`. */
  nowMs: number;
  /** The current Unix time in milliseconds. */
  unixMs: number;
};

export type LeaseDecision = {
  seen: SeenLease;
  /** The spec to write to acquire or renew the Lease; absent while another process holds it. */
  spec?: LeaderLease['spec'];
};

/** Decides whether this process acquires or renews the Lease. */
export function decideLease({ lease, seen, identity, nowMs, unixMs }: LeaseInput): LeaseDecision {
  const spec = lease?.spec;
  const record = JSON.stringify(spec ?? null);
  const now = seen?.record === record ? seen : { record, sinceMs: nowMs };
  const holder = spec?.holderIdentity ?? '';
  const lastsMs = (spec?.leaseDurationSeconds ?? LEASE_SECONDS) * 1000;
  const isFree = holder === '' || holder === identity || nowMs - now.sinceMs > lastsMs;
  if (!isFree) return { seen: now };
  const renewTime = formatMicroTime(unixMs);
  const isOwn = holder === identity;
  const transitions = spec?.leaseTransitions ?? 0;
  const own = {
    holderIdentity: identity,
    leaseDurationSeconds: LEASE_SECONDS,
    acquireTime: isOwn ? (spec?.acquireTime ?? renewTime) : renewTime,
    renewTime,
    leaseTransitions: isOwn || lease === undefined ? transitions : transitions + 1,
  };
  return { seen: now, spec: own };
}
