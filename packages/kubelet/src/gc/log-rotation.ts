/** Rotates logs of running containers as they grow, not when somebody happens to look. */
import { constants, type FSWatcher, watch } from 'node:fs';
import { lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { errorMessage, isErrno, Limiter, LOG_DIRECTORY, LOG_FILE, type Logger, mendMode } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { LEAST_LOG_LOOK_MS, MOST_LOG_LOOK_MS } from '../limits.ts';
import { LogGrowth } from './log-growth.ts';

export type LogRotationPolicy = {
  maxSizeBytes: number;
  maxFiles: number;
  /** Logs that are compressed at a time. */
  maxWorkers: number;
};

type RotationInput = { cri: CriClient; logger: Logger; policy: LogRotationPolicy };

/** Files beside `N.log`: `N.log.<time>`, and `.gz` of all but the newest of them. */
const rotatedSuffix = /^\.\d{8}-\d{6}(?:\.gz)?$/;

/** Follows the logs of the containers that it is told of, until it is closed. */
export class LogRotation {
  readonly #input: RotationInput;
  readonly #compressing: Limiter;
  readonly #logs = new Map<string, FollowedLog>();

  constructor(input: RotationInput) {
    this.#input = input;
    this.#compressing = new Limiter(input.policy.maxWorkers);
  }

  /** Follows the logs of the pod's containers that run, and no others of the pod. */
  follow(pod: RuntimePodStatus): void {
    this.#follow([pod], ({ podUid }) => podUid === pod.pod.uid);
  }

  /** As `follow`, of all pods that there are. */
  followAll(pods: RuntimePodStatus[]): void {
    this.#follow(pods, () => true);
  }

  /** `isOf` is true of the logs that these pods may have. */
  #follow(pods: RuntimePodStatus[], isOf: (log: FollowedLog) => boolean): void {
    const running = pods.flatMap(({ pod, containers }) =>
      containers.flatMap(({ id, state, logPath }) =>
        state === 'running' && logPath !== '' ? [{ id, logPath, podUid: pod.uid }] : [],
      ),
    );
    const ids = new Set(running.map(({ id }) => id));
    this.#leave((log) => isOf(log) && !ids.has(log.id));
    for (const one of running)
      if (!this.#logs.has(one.id))
        this.#logs.set(one.id, new FollowedLog({ ...this.#input, ...one, compressing: this.#compressing }));
  }

  /** Looks at every log, for file systems whose changes are not told. Resolves when what was too large is rotated and compressed. */
  async lookAtAll(): Promise<void> {
    await Promise.all([...this.#logs.values()].map((log) => log.look()));
    await Promise.all([...this.#logs.values()].map((log) => log.compressed));
  }

  close(): void {
    this.#leave(() => true);
  }

  #leave(isLeft: (log: FollowedLog) => boolean): void {
    for (const log of [...this.#logs.values()].filter(isLeft)) {
      log.close();
      this.#logs.delete(log.id);
    }
  }
}

type LogInput = RotationInput & { id: string; logPath: string; podUid: string; compressing: Limiter };

/**
 * One log. The kernel tells when something was written; the log is then looked at after as long as it takes at least to fill it, so
 * that a container that writes fast is seen in time and one that writes much costs little.
 */
class FollowedLog {
  readonly id: string;
  readonly podUid: string;
  readonly #input: LogInput;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #closed = false;
  #lookMs = LEAST_LOG_LOOK_MS;
  readonly #growth: LogGrowth;
  /** The newest rotated file, once one is known. */
  #newest: string | undefined;
  /** Ends with the compression of what was rotated until now. */
  compressed: Promise<void> = Promise.resolve();

  constructor(input: LogInput) {
    this.#input = input;
    this.id = input.id;
    this.podUid = input.podUid;
    this.#growth = new LogGrowth(input.policy.maxSizeBytes);
    void this.look();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#watcher?.close();
  }

  /** Rotates the log if it is too large. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { id, logPath, logger } = this.#input;
    try {
      if (this.#closed) return;
      this.#watch();
      const verdict = this.#growth.judge(await sizeOf(logPath), performance.now());
      if (verdict.kind === 'rotate') await this.#rotate();
      else this.#lookMs = verdict.afterMs;
    } catch (error) {
      this.#lookMs = MOST_LOG_LOOK_MS;
      logger.warn({ id, logPath, error: errorMessage(error) }, 'the container log could not be rotated');
    }
  }

  #watch(): void {
    if (this.#watcher !== undefined) return;
    closeDirectories(this.#input.logPath);
    try {
      this.#watcher = watch(this.#input.logPath, { persistent: false }, () => this.#written());
      this.#watcher.on('error', () => this.#unwatch());
    } catch {
      // it is not there yet, or there are no more watches: it is looked at now and then
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #written(): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#growth.due(performance.now() + this.#lookMs);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // a look that is under way may have seen the size already
      void (this.#looking ?? Promise.resolve()).then(() => this.look());
    }, this.#lookMs);
    this.#timer.unref();
  }

  /** The container's next lines are in a new file before anything that takes long. */
  async #rotate(): Promise<void> {
    const { cri, id, logPath, policy, compressing } = this.#input;
    this.#newest = await rotate({ cri, id, logPath, newest: this.#newest });
    this.#growth.rotated(performance.now());
    this.#unwatch();
    this.#watch();
    this.#lookMs = LEAST_LOG_LOOK_MS;
    this.#written();
    await removeOldest(logPath, policy.maxFiles - 1);
    this.compressed = this.compressed.then(() => this.#compress(compressing));
  }

  async #compress(compressing: Limiter): Promise<void> {
    const { id, logPath, policy, logger } = this.#input;
    await compressing
      .run(() => compressRotated(logPath))
      .finally(() => removeOldest(logPath, policy.maxFiles - 1)) // one may have been removed and come back compressed
      .catch((error: unknown) => {
        if (this.#closed || isErrno(error, 'ENOENT')) return; // it is the oldest, or its container, by now
        logger.warn({ id, logPath, error: errorMessage(error) }, 'a rotated log could not be compressed');
      });
  }
}

/** Directories of logs that an earlier version made were open to everybody on the host. */
function closeDirectories(logPath: string): void {
  for (const directory of [dirname(logPath), dirname(dirname(logPath))]) mendMode(directory, LOG_DIRECTORY);
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return 0;
    throw error;
  }
}

/** Rotated files of a log, oldest first. */
async function rotatedFiles(logPath: string): Promise<string[]> {
  const prefix = basename(logPath);
  const names = await readdir(dirname(logPath));
  return names
    .filter((name) => name.startsWith(prefix) && rotatedSuffix.test(name.slice(prefix.length)))
    .sort()
    .map((name) => join(dirname(logPath), name));
}

/** Keeps so many rotated files. */
async function removeOldest(logPath: string, keep: number): Promise<void> {
  const files = await rotatedFiles(logPath);
  for (const file of files.slice(0, Math.max(0, files.length - Math.max(0, keep)))) {
    for (const path of [file, `${file}.tmp`]) await rm(path, { force: true });
  }
}

/** The newest rotated file stays plain: a reader may still be in it. */
async function compressRotated(logPath: string): Promise<void> {
  for (const file of (await rotatedFiles(logPath)).slice(0, -1)) {
    if (file.endsWith('.gz')) continue;
    if ((await lstat(file)).isFile()) await compress(file);
  }
}

/** Follows no links: a pod that may write to the directory could have us read and write other files of the host. */
async function compress(file: string): Promise<void> {
  const temporary = `${file}.tmp`;
  await rm(temporary, { force: true }); // of a compression that was cut short
  await using from = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  await using to = await open(temporary, 'wx', LOG_FILE);
  await pipeline(from.createReadStream(), createGzip(), to.createWriteStream());
  await rename(temporary, `${file}.gz`);
  await rm(file, { force: true });
}

/** Returns the suffix of the rotated file, given that of the one before. A runtime that does not reopen gets its file back. */
async function rotate({
  cri,
  id,
  logPath,
  newest,
}: Pick<LogInput, 'cri' | 'id' | 'logPath'> & { newest: string | undefined }): Promise<string> {
  const suffix = nextTime(newest ?? (await newestTime(logPath)));
  const rotated = `${logPath}.${suffix}`;
  await rename(logPath, rotated);
  try {
    await cri.runtime.reopenContainerLog({ containerId: id });
  } catch (error) {
    await rename(rotated, logPath);
    throw error;
  }
  return suffix;
}

async function newestTime(logPath: string): Promise<string | undefined> {
  return (await rotatedFiles(logPath)).at(-1)?.slice(logPath.length + 1, logPath.length + 16);
}

/** Now, or a second after the newest rotated file: of several a second each has a name, in their order. */
function nextTime(newest: string | undefined): string {
  const now = timeName(new Date());
  if (newest === undefined || newest < now) return now;
  const [, year, month, day, hour, minute, second] = /^(....)(..)(..)-(..)(..)(..)$/.exec(newest)!.map(Number);
  return timeName(new Date(Date.UTC(year!, month! - 1, day, hour, minute, second! + 1)));
}

const timeName = (time: Date) => time.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
