import { errorMessage, KeyedLock, type Logger, type Registry } from '@podwright/base';
import type { Pod, ResourceClaim } from '@podwright/kube-api';
import { apiMessage } from '@podwright/kube-client';
import type { NodePrepareResourceResponse } from '../dra-api.ts';
import type { PreparedClaims } from './claim-devices.ts';
import { type ClaimRecord, type PreparedDevice, readClaimRecords, writeClaimRecords } from './claim-records.ts';
import type { DeviceName } from './device-health.ts';
import type { DraDrivers, DraService } from './dra-drivers.ts';
import { type DraMetrics, draMetrics } from './dra-metrics.ts';
import { checkClaim, claimsOf, refusal } from './pod-claims.ts';

/** How long the cleanup of an unknown pod's claims waits for drivers before moving on to the next pod. */
const ORPHAN_TIMEOUT_MS = 10_000;

/** Timeout of calls to DRA drivers, the same as upstream's. */
const DRA_TIMEOUT_MS = 45_000;

export type DraClaimsOptions = {
  drivers: DraDrivers;
  /** Gets a ResourceClaim from the API server. Rejects with the API server's message. */
  claim: (place: { namespace: string; name: string }, signal: AbortSignal) => Promise<ResourceClaim>;
  /** Path of the file that stores the claim records. */
  path: string;
  logger: Logger;
  metrics?: Registry;
};

type Message = { namespace: string; uid: string; name: string };

/**
 * Manages pods' ResourceClaims. Drivers prepare a claim before its first pod starts, and unprepare it after its last pod has ended. A claim
 * is recorded before any driver is called: it will be unprepared even if the kubelet is killed.
 */
export class DraClaims {
  readonly #options: DraClaimsOptions;
  /** Claim records by namespace and name. */
  readonly #records: Map<string, ClaimRecord>;
  /** Claims already prepared by this process. Drivers are called again for all others. */
  readonly #prepared = new Set<ClaimRecord>();
  readonly #locks = new KeyedLock();
  readonly #metrics: DraMetrics | undefined;

  static async open(options: DraClaimsOptions): Promise<DraClaims> {
    return new DraClaims(options, await readClaimRecords(options.path));
  }

  private constructor(options: DraClaimsOptions, records: ClaimRecord[]) {
    this.#options = options;
    this.#records = new Map(records.map((record) => [keyOf(record.Namespace, record.ClaimName), record]));
    const drivers = () => [...this.#prepared].map(({ DriverState }) => Object.keys(DriverState));
    this.#metrics = options.metrics && draMetrics(options.metrics, drivers);
  }

  /** Prepares the pod's claims that are not prepared yet. Rejects with upstream's message. */
  prepare(pod: Pod, signal: AbortSignal): Promise<void> {
    const work = () => this.#prepare(pod, signal);
    return this.#metrics?.measured('PrepareResources', work) ?? work();
  }

  async #prepare(pod: Pod, signal: AbortSignal): Promise<void> {
    const keys = claimsOf(pod).map(({ claimName }) => keyOf(pod.metadata.namespace, claimName));
    if (keys.length === 0) return;
    await this.#exclusively(keys, async () => {
      const claims = await this.#lookUp(pod, signal);
      for (const claim of claims) this.#checkName(claim);
      const records = claims.map((claim) => this.#recordOf(claim));
      for (const record of records) record.PodUIDs[pod.metadata.uid] = {};
      await this.#write();
      const wanted = records.filter((record) => !this.#prepared.has(record));
      for (const [driver, those] of byDriver(wanted)) await this.#prepareBy(driver, those, signal);
      for (const record of wanted) this.#prepared.add(record);
      if (wanted.length > 0) await this.#write();
    });
  }

  /** Unprepares the pod's claims after its containers have stopped. Rejects if a driver fails. */
  unprepare(podUid: string, signal?: AbortSignal): Promise<void> {
    const work = () => this.#unprepare(podUid, signal);
    return this.#metrics?.measured('UnprepareResources', work) ?? work();
  }

  async #unprepare(podUid: string, signal?: AbortSignal): Promise<void> {
    const had = this.#recordsOf(podUid);
    if (had.length === 0) return;
    const keys = had.map((record) => keyOf(record.Namespace, record.ClaimName));
    await this.#exclusively(keys, async () => {
      const own = this.#recordsOf(podUid);
      const isShared = (record: ClaimRecord) => Object.keys(record.PodUIDs).length > 1;
      const last = own.filter((record) => !isShared(record));
      for (const [driver, those] of byDriver(last)) await this.#unprepareBy(driver, those, signal);
      for (const record of own) delete record.PodUIDs[podUid];
      for (const record of last) {
        this.#records.delete(keyOf(record.Namespace, record.ClaimName));
        this.#prepared.delete(record);
      }
      await this.#write();
    });
  }

  /** Unprepares the claims of pods that are no longer known. Failures are retried on the next call. */
  async keepOnly(isKnown: (podUid: string) => boolean): Promise<void> {
    const uids = new Set([...this.#records.values()].flatMap(({ PodUIDs }) => Object.keys(PodUIDs)));
    for (const uid of uids) {
      if (isKnown(uid)) continue;
      await this.unprepare(uid, AbortSignal.timeout(ORPHAN_TIMEOUT_MS)).catch((error: unknown) =>
        this.#options.logger.warn({ uid, error: errorMessage(error) }, 'cannot unprepare the claims of a removed pod'),
      );
    }
  }

  /** Returns a function that looks up recorded claims in the namespace. */
  preparedIn(namespace: string): PreparedClaims {
    return (name) => this.#records.get(keyOf(namespace, name));
  }

  /** Returns the UIDs of the pods that use any of these devices. */
  podsWith(driver: string, names: DeviceName[]): string[] {
    const isMeant = ({ PoolName, DeviceName }: PreparedDevice) =>
      names.some(({ pool, device }) => pool === PoolName && device === DeviceName);
    const meant = [...this.#records.values()].filter((one) => one.DriverState[driver]?.Devices?.some(isMeant));
    return [...new Set(meant.flatMap(({ PodUIDs }) => Object.keys(PodUIDs)))];
  }

  async #lookUp(pod: Pod, signal: AbortSignal): Promise<ResourceClaim[]> {
    const { namespace } = pod.metadata;
    const claims: ResourceClaim[] = [];
    for (const { claimName: name, mustOwn } of claimsOf(pod)) {
      const claim = await this.#options.claim({ namespace, name }, signal).catch((error: unknown) => {
        throw refusal(`fetch ResourceClaim ${name}: ${apiMessage(error)}`);
      });
      checkClaim(pod, claim, mustOwn);
      for (const driver of driversOf(claim)) this.#options.drivers.require(driver);
      claims.push(claim);
    }
    return claims;
  }

  /** Throws if there is still a record of a claim with the same name but a different UID. */
  #checkName({ metadata: { namespace = '', name = '', uid } }: ResourceClaim): void {
    const known = this.#records.get(keyOf(namespace, name));
    if (known === undefined || known.ClaimUID === uid) return;
    throw refusal(
      `old ResourceClaim with same name ${name} and different UID ${known.ClaimUID} still exists (previous pod force-deleted?!)`,
    );
  }

  #recordOf(claim: ResourceClaim): ClaimRecord {
    const { namespace = '', name = '', uid = '' } = claim.metadata;
    const key = keyOf(namespace, name);
    const known = this.#records.get(key);
    const DriverState = Object.fromEntries(driversOf(claim).map((driver) => [driver, { Devices: null }]));
    const record = known ?? { ClaimUID: uid, ClaimName: name, Namespace: namespace, PodUIDs: {}, DriverState };
    this.#records.set(key, record);
    return record;
  }

  async #prepareBy(driver: string, records: ClaimRecord[], signal: AbortSignal): Promise<void> {
    const claims = records.map(messageOf);
    const call = 'NodePrepareResources';
    const answer = await this.#call({ driver, call }, (service) =>
      service.nodePrepareResources({ claims }, { signal, timeoutMs: DRA_TIMEOUT_MS }),
    );
    checkAnswer(call, claims, answer.claims);
    for (const record of records) record.DriverState[driver] = { Devices: devicesOf(answer.claims[record.ClaimUID]!) };
  }

  async #unprepareBy(driver: string, records: ClaimRecord[], signal?: AbortSignal): Promise<void> {
    const claims = records.map(messageOf);
    const call = 'NodeUnprepareResources';
    this.#options.drivers.require(driver);
    const answer = await this.#call({ driver, call }, (service) =>
      service.nodeUnprepareResources({ claims }, { signal, timeoutMs: DRA_TIMEOUT_MS }),
    );
    checkAnswer(call, claims, answer.claims);
  }

  async #call<T>(
    { driver, call }: { driver: string; call: string },
    work: (service: DraService) => Promise<T>,
  ): Promise<T> {
    const { drivers } = this.#options;
    const run = () => drivers.call(driver, work);
    try {
      const method = `/${drivers.require(driver).packageName}.DRAPlugin/${call}`;
      return await (this.#metrics?.called({ driver, method }, run) ?? run());
    } catch (error) {
      throw refusal(`${call}: ${errorMessage(error)}`);
    }
  }

  #recordsOf(podUid: string): ClaimRecord[] {
    return [...this.#records.values()].filter((record) => record.PodUIDs[podUid] !== undefined);
  }

  /**
   * Runs `work` while holding the locks of these claims, which may be shared with other pods. Locks are acquired in sorted order to avoid
   * deadlocks.
   */
  #exclusively(keys: string[], work: () => Promise<void>): Promise<void> {
    const inTurn = [...new Set(keys)]
      .sort()
      .reduceRight<() => Promise<void>>((inner, key) => () => this.#locks.run(key, inner), work);
    return inTurn();
  }

  /** Writes the current records. Writes run one at a time. */
  #write(): Promise<void> {
    const { path } = this.#options;
    return this.#locks.run('the file', () => writeClaimRecords(path, [...this.#records.values()]));
  }
}

/** Throws if the driver omitted a claim, failed on one, or responded for a claim that was not requested. */
function checkAnswer(call: string, requested: Message[], answers: Record<string, { error: string }>): void {
  for (const [uid, { error }] of Object.entries(answers)) {
    const claim = requested.find((one) => one.uid === uid);
    if (claim === undefined) throw refusal(`${call} returned result for unknown claim UID ${uid}`);
    if (error !== '') throw refusal(`${call} failed for ResourceClaim ${claim.name}: ${error}`);
  }
  const unfinished = requested.length - Object.keys(answers).length;
  if (unfinished !== 0) throw refusal(`${call} skipped ${unfinished} ResourceClaims`);
}

function devicesOf({ devices }: NodePrepareResourceResponse) {
  return devices.map(({ poolName, deviceName, shareId, requestNames, cdiDeviceIds }) => ({
    PoolName: poolName,
    DeviceName: deviceName,
    ShareID: shareId ?? null,
    RequestNames: requestNames,
    CDIDeviceIDs: cdiDeviceIds,
  }));
}

function driversOf({ status }: ResourceClaim): string[] {
  return [...new Set((status?.allocation?.devices?.results ?? []).map(({ driver }) => driver))];
}

function byDriver(records: ClaimRecord[]): Map<string, ClaimRecord[]> {
  const found = new Map<string, ClaimRecord[]>();
  for (const record of records)
    for (const driver of Object.keys(record.DriverState)) found.set(driver, [...(found.get(driver) ?? []), record]);
  return found;
}

function messageOf({ Namespace: namespace, ClaimUID: uid, ClaimName: name }: ClaimRecord): Message {
  return { namespace, uid, name };
}

const keyOf = (namespace: string, name: string) => `${namespace}/${name}`;
