import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, isErrno, type Logger, PRIVATE_DIRECTORY } from '@podwright/base';
import { namesIn, readJsonFile, removeIfEmpty, writeFileAtomic, writeFileDurable } from '@podwright/host';
import type { PodStatus } from '@podwright/kube-api';

/** Maximum size of a status record; larger files are not read. A status is at most about 100 KiB: 12 KiB of messages, plus conditions. */
const MAX_STATUS_RECORD_BYTES = 4 << 20;

const STATUS_RECORD_RETRY_MS = 1000;

/** Changes to a pod's status within this period are coalesced into one write, and are lost if the kubelet is killed before that write. */
export const STATUS_RECORD_DELAY_MS = 100;

/** The last published status of a pod, and the pod's name. `going`: the pod was being deleted. */
export type StatusRecord = { namespace: string; name: string; status: PodStatus; going?: boolean };

const SUFFIX = '.json';

/**
 * Stores the published pod statuses, one file per pod in the kubelet's root directory, so that they survive a kubelet restart unchanged.
 * Writes are batched, except that a pod's termination is written immediately. Failed writes, for example on a full disk, are retried.
 * Unreadable files are removed.
 */
export class StatusRecords {
  readonly #directory: string;
  readonly #logger: Logger;
  /** The latest unwritten record of each pod; `deleted` if the record's file must be removed. */
  readonly #unwritten = new Map<string, StatusRecord | 'deleted'>();
  readonly #failing = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #written: Promise<void> = Promise.resolve();

  constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
  }

  /** Reads the records written by the previous kubelet, by pod UID. */
  async read(): Promise<Map<string, StatusRecord>> {
    const records = new Map<string, StatusRecord>();
    for (const file of await namesIn(this.#directory)) {
      const record = file.endsWith(SUFFIX) ? await this.#readFile(join(this.#directory, file)) : undefined;
      if (record !== undefined) records.set(file.slice(0, -SUFFIX.length), record);
      else await rm(join(this.#directory, file), { recursive: true, force: true });
    }
    return records;
  }

  save(podUid: string, record: StatusRecord): void {
    this.#unwritten.set(podUid, record);
    this.#schedule(hasEnded(record) ? 0 : STATUS_RECORD_DELAY_MS);
  }

  delete(podUid: string): void {
    this.#unwritten.set(podUid, 'deleted');
    this.#schedule(STATUS_RECORD_DELAY_MS);
  }

  /** Resolves once everything saved so far has been written or has failed to be written. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#written = this.#written.then(async () => {
      await Promise.all([...this.#unwritten].map(([podUid, record]) => this.#write(podUid, record)));
      if (this.#unwritten.size > 0) this.#schedule(STATUS_RECORD_RETRY_MS);
    });
    return this.#written;
  }

  /** Writes pending records, and removes the directory if it is empty. */
  async close(): Promise<void> {
    await this.flush();
    clearTimeout(this.#timer);
    await removeIfEmpty(this.#directory);
  }

  #schedule(delayMs: number): void {
    if (delayMs === 0) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), delayMs);
  }

  async #write(podUid: string, record: StatusRecord | 'deleted'): Promise<void> {
    const path = join(this.#directory, podUid + SUFFIX);
    try {
      if (record === 'deleted') await rm(path, { force: true });
      else {
        await mkdir(this.#directory, { recursive: true, mode: PRIVATE_DIRECTORY });
        // sync the record of a pod in a terminal phase to disk: nothing else records that phase, and without the record the pod would run
        // again
        const write = hasEnded(record) ? writeFileDurable : writeFileAtomic;
        await write(path, JSON.stringify(record));
      }
      this.#failing.delete(podUid);
      if (this.#unwritten.get(podUid) === record) this.#unwritten.delete(podUid);
    } catch (error) {
      if (!this.#failing.has(podUid))
        this.#logger.warn(
          { path, error: errorMessage(error) },
          'the status of a pod could not be written and will be retried',
        );
      this.#failing.add(podUid);
    }
  }

  async #readFile(path: string): Promise<StatusRecord | undefined> {
    try {
      return decodeRecord(await readJsonFile(path, MAX_STATUS_RECORD_BYTES));
    } catch (error) {
      if (!isErrno(error, 'ENOENT'))
        this.#logger.warn({ path, error: errorMessage(error) }, 'the status record of a pod is ignored');
      return undefined;
    }
  }
}

const hasEnded = ({ status: { phase } }: StatusRecord) => phase === 'Succeeded' || phase === 'Failed';

/** Decodes a record, checking only the fields that all readers need. */
function decodeRecord(value: unknown): StatusRecord {
  const { namespace, name, status, going } = (value ?? {}) as Partial<StatusRecord>;
  const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];
  const isList = (value: unknown) => value === undefined || Array.isArray(value);
  const valid =
    typeof namespace === 'string' &&
    typeof name === 'string' &&
    phases.includes(status?.phase ?? '') &&
    [status?.conditions, status?.containerStatuses, status?.initContainerStatuses].every(isList);
  if (!valid) throw new Error('it is not a status record');
  return { namespace, name, status: status!, ...(going === true ? { going } : {}) };
}
