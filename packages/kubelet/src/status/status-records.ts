import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  errorMessage,
  isErrno,
  type Logger,
  namesIn,
  PRIVATE_DIRECTORY,
  removeIfEmpty,
  writeFileAtomic,
  writeFileDurable,
} from '@podwright/base';
import type { PodStatus } from '@podwright/kube-api';

/** A status has some 100 KiB at most: 12 KiB of messages, and conditions. */
const MAX_STATUS_RECORD_BYTES = 4 << 20;

/** When statuses that could not be written are written again. */
const STATUS_RECORD_AGAIN_MS = 1000;

/** Changes of a pod's status within this time are written to disk once; a kubelet that is killed loses them. */
export const STATUS_RECORD_DELAY_MS = 100;

/** The status of a pod as it was last published, with the name of the pod; `going` if the pod was being deleted. */
export type StatusRecord = { namespace: string; name: string; status: PodStatus; going?: boolean };

const SUFFIX = '.json';

/**
 * The published statuses of pods, a file each in the kubelet's root directory, so that a restart of the kubelet does not change them.
 * Changes in quick succession are written once, ends at once. A write that fails, as on a full disk, is tried again. A file that
 * cannot be read counts as none.
 */
export class StatusRecords {
  readonly #directory: string;
  readonly #logger: Logger;
  /** The latest record of each pod that is not written yet; `gone` if its file is to be removed. */
  readonly #unwritten = new Map<string, StatusRecord | 'gone'>();
  readonly #failing = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #written: Promise<void> = Promise.resolve();

  constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
  }

  /** The records that the previous kubelet wrote, by UID. */
  async read(): Promise<Map<string, StatusRecord>> {
    const records = new Map<string, StatusRecord>();
    for (const file of await namesIn(this.#directory)) {
      const record = file.endsWith(SUFFIX) ? await this.#readFile(join(this.#directory, file)) : undefined;
      if (record !== undefined) records.set(file.slice(0, -SUFFIX.length), record);
      else await rm(join(this.#directory, file), { force: true });
    }
    return records;
  }

  save(podUid: string, record: StatusRecord): void {
    this.#unwritten.set(podUid, record);
    this.#schedule(hasEnded(record) ? 0 : STATUS_RECORD_DELAY_MS);
  }

  delete(podUid: string): void {
    this.#unwritten.set(podUid, 'gone');
    this.#schedule(STATUS_RECORD_DELAY_MS);
  }

  /** Resolves when everything that was saved before has been written, or tried. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#written = this.#written.then(async () => {
      await Promise.all([...this.#unwritten].map(([podUid, record]) => this.#write(podUid, record)));
      if (this.#unwritten.size > 0) this.#schedule(STATUS_RECORD_AGAIN_MS);
    });
    return this.#written;
  }

  /** Writes what is left; without pods nothing stays on disk. */
  async close(): Promise<void> {
    await this.flush();
    clearTimeout(this.#timer);
    await removeIfEmpty(this.#directory);
  }

  #schedule(delayMs: number): void {
    if (delayMs === 0) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), delayMs);
  }

  async #write(podUid: string, record: StatusRecord | 'gone'): Promise<void> {
    const path = join(this.#directory, podUid + SUFFIX);
    try {
      if (record === 'gone') await rm(path, { force: true });
      else {
        await mkdir(this.#directory, { recursive: true, mode: PRIVATE_DIRECTORY });
        // only this file says that the pod has ended: without it the pod would run again
        const write = hasEnded(record) ? writeFileDurable : writeFileAtomic;
        await write(path, JSON.stringify(record));
      }
      this.#failing.delete(podUid);
      if (this.#unwritten.get(podUid) === record) this.#unwritten.delete(podUid);
    } catch (error) {
      if (!this.#failing.has(podUid))
        this.#logger.warn(
          { path, error: errorMessage(error) },
          'the status of a pod could not be written; it is tried again',
        );
      this.#failing.add(podUid);
    }
  }

  async #readFile(path: string): Promise<StatusRecord | undefined> {
    try {
      if ((await stat(path)).size > MAX_STATUS_RECORD_BYTES) throw new Error('it is too large');
      return decodeRecord(await readFile(path, 'utf8'));
    } catch (error) {
      if (!isErrno(error, 'ENOENT'))
        this.#logger.warn({ path, error: errorMessage(error) }, 'the record of a pod is left out');
      return undefined;
    }
  }
}

const hasEnded = ({ status: { phase } }: StatusRecord) => phase === 'Succeeded' || phase === 'Failed';

/** Checks only the fields that all readers need. */
function decodeRecord(text: string): StatusRecord {
  const { namespace, name, status, going } = (JSON.parse(text) ?? {}) as Partial<StatusRecord>;
  const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];
  const isList = (value: unknown) => value === undefined || Array.isArray(value);
  const valid =
    typeof namespace === 'string' &&
    typeof name === 'string' &&
    phases.includes(status?.phase ?? '') &&
    [status?.conditions, status?.containerStatuses, status?.initContainerStatuses].every(isList);
  if (!valid) throw new Error('it is no record of a pod');
  return { namespace, name, status: status!, ...(going === true ? { going } : {}) };
}
