import type { ObjectStore } from '@podwright/api-machinery';
import { errorMessage, type Logger, pause } from '@podwright/base';
import { type ApiObject, isSameValue, objectAt } from '@podwright/kube-kinds';
import { decodeQuota, measuredResource, QuotaUsage } from './quota-usage.ts';
import { type Amount, formatAmount } from './resources/resource-amounts.ts';

export type QuotaStatus = { hard: Record<string, string>; used: Record<string, string> };

export type QuotaStatusParts = {
  store: ObjectStore;
  /** Whether the server serves this group resource. Quotas can name any resource. */
  isServed: (resource: string) => boolean;
  /** Updates a quota's status through the registry. Rejects if the quota has changed since it was read. */
  setStatus: (quota: ApiObject, status: QuotaStatus) => Promise<void>;
  now: () => number;
  logger: Pick<Logger, 'warn'>;
};

/** Debounce: changes within this time are combined into one status update. */
const DELAY_MS = 200;
const RETRY_MS = 1000;
/** Resync interval, as in upstream. Needed because usage can also change without a write, when a terminating pod's grace period ends. */
const RESYNC_MS = 300_000;

/** Keeps quota status up to date until the signal aborts. Enforcement does not depend on it. */
export async function keepQuotaStatus(parts: QuotaStatusParts, signal: AbortSignal): Promise<void> {
  const usage = new QuotaUsage(parts.store, parts.now);
  while (!signal.aborted) {
    try {
      await updateAll(parts, usage, signal);
      await pause(DELAY_MS, signal);
    } catch (error) {
      parts.logger.warn({ error: errorMessage(error) }, 'update the status of quotas failed, trying again');
      await pause(RETRY_MS, signal);
    }
  }
}

/** Updates the status of all quotas. Resolves when usage might have changed, so that another update is needed. */
async function updateAll(parts: QuotaStatusParts, usage: QuotaUsage, signal: AbortSignal): Promise<void> {
  const { revision, objects } = parts.store.list('resourcequotas');
  const quotas = objects.map((object) => object.decode());
  await update(parts, usage, quotas);
  const resources = new Set(['resourcequotas', ...quotas.flatMap((quota) => [...measuredBy(quota, parts)])]);
  await changeOf(parts.store, resources, { from: revision, signal });
}

async function update(parts: QuotaStatusParts, usage: QuotaUsage, quotas: readonly ApiObject[]): Promise<void> {
  const { setStatus, logger } = parts;
  for (const quota of quotas) {
    const status = statusOf(quota, usage, measuredBy(quota, parts));
    if (isSameValue(objectAt(quota, 'status'), status)) continue;
    await setStatus(quota, status).catch((error: unknown) =>
      logger.warn({ error: errorMessage(error), quota: quota.metadata.name }, 'update the status of a quota failed'),
    );
  }
}

function statusOf(object: ApiObject, usage: QuotaUsage, resources: ReadonlySet<string>): QuotaStatus {
  const quota = decodeQuota(object);
  const names = [...quota.hard.keys()];
  const used = new Map<string, Amount>([...resources].flatMap((resource) => [...usage.usedBy(resource, quota)]));
  const shown = (name: string, amount: Amount | undefined) => [name, amount === undefined ? '0' : formatAmount(amount)];
  return {
    hard: Object.fromEntries([...quota.hard].map(([name, amount]) => shown(name, amount))),
    used: Object.fromEntries(names.map((name) => shown(name, used.get(name)))),
  };
}

/** Returns the store names of the resources whose objects count against the quota. */
function measuredBy(quota: ApiObject, { isServed }: QuotaStatusParts): Set<string> {
  const names = [...decodeQuota(quota).hard.keys()];
  return new Set(names.flatMap((name) => measuredResource(name) ?? []).filter(isServed));
}

/** Resolves when any of the resources has changed since revision `from`, or when the resync period has elapsed. */
async function changeOf(
  store: ObjectStore,
  resources: ReadonlySet<string>,
  { from, signal }: { from: number; signal: AbortSignal },
): Promise<void> {
  const done = new AbortController();
  const stop = AbortSignal.any([signal, done.signal]);
  const firstOf = async (resource: string) => {
    for await (const _ of store.watch(resource, { from, signal: stop })) return;
  };
  // An expired watch might have missed changes, so its expiry counts as a change.
  await Promise.race([...[...resources].map((resource) => firstOf(resource).catch(() => {})), pause(RESYNC_MS, stop)]);
  done.abort();
}
