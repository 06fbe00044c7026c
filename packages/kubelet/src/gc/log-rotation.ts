/** Rotates the logs of running containers as they grow. */
import { constants, type FSWatcher, watch } from 'node:fs';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import {
  background,
  errorCode,
  errorMessage,
  isErrno,
  Limiter,
  LOG_DIRECTORY,
  LOG_FILE,
  type Logger,
  mendMode,
  Timer,
} from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { nextRotated, rotatedLogs } from '../logs/rotated-logs.ts';
import { LogGrowth, MAX_LOG_CHECK_MS, MIN_LOG_CHECK_MS } from './log-growth.ts';

/** Age at which a rotated log is compressed. At 3 MB/s or more, a log with the default limits is deleted before it reaches this age. */
const LOG_COMPRESS_AFTER_MS = 10_000;

export type LogRotationPolicy = {
  maxSizeBytes: number;
  maxFiles: number;
  /** Maximum number of concurrent compressions (`containerLogMaxWorkers`). */
  maxWorkers: number;
};

type RotationInput = {
  cri: CriClient;
  logger: Logger;
  policy: LogRotationPolicy;
  /**
   * Age in milliseconds at which a rotated log is compressed. Default: 10 s. The rotated logs of fast-writing containers are deleted before
   * that.
   */
  compressAfterMs?: number;
};

/** Follows and rotates the logs of running containers until closed. */
export class LogRotation {
  readonly #input: RotationInput;
  readonly #compressing: Limiter;
  readonly #logs = new Map<string, FollowedLog>();

  constructor(input: RotationInput) {
    this.#input = input;
    this.#compressing = new Limiter(input.policy.maxWorkers);
  }

  /** Starts following the logs of the pod's running containers, and stops following those of its other containers. */
  follow(pod: RuntimePodStatus): void {
    this.#follow([pod], ({ podUid }) => podUid === pod.pod.uid);
  }

  /** Like `follow`, but for all pods: also stops following the logs of pods not in the list. */
  followAll(pods: RuntimePodStatus[]): void {
    this.#follow(pods, () => true);
  }

  /** Follows the running containers' logs. Stops following the other logs for which `isOf` returns true. */
  #follow(pods: RuntimePodStatus[], isOf: (log: FollowedLog) => boolean): void {
    const running = pods.flatMap(({ pod, containers }) =>
      containers.flatMap(({ id, state, logPath }) =>
        state === 'running' && logPath !== '' ? [{ id, logPath, podUid: pod.uid }] : [],
      ),
    );
    const ids = new Set(running.map(({ id }) => id));
    this.#unfollow((log) => isOf(log) && !ids.has(log.id));
    for (const one of running)
      if (!this.#logs.has(one.id))
        this.#logs.set(one.id, new FollowedLog({ ...this.#input, ...one, compressing: this.#compressing }));
  }

  /**
   * Must be called periodically. Checks every log, because some file systems do not report changes, and compresses rotated logs that are
   * old enough. Resolves when both are done.
   */
  async checkAll(): Promise<void> {
    await Promise.all([...this.#logs.values()].map((log) => log.check()));
    await Promise.all([...this.#logs.values()].map((log) => log.compress()));
  }

  close(): void {
    this.#unfollow(() => true);
  }

  #unfollow(which: (log: FollowedLog) => boolean): void {
    for (const log of [...this.#logs.values()].filter(which)) {
      log.close();
      this.#logs.delete(log.id);
    }
  }
}

type LogInput = RotationInput & { id: string; logPath: string; podUid: string; compressing: Limiter };

/**
 * A log being followed. After inotify reports a write, the log is checked once enough time has passed for it to fill up at the maximum
 * rate. This catches fast writers in time without a check for every write.
 */
class FollowedLog {
  readonly id: string;
  readonly podUid: string;
  readonly #input: LogInput;
  #watcher: FSWatcher | undefined;
  #timer: Timer | undefined;
  #checking: Promise<void> | undefined;
  #closed = false;
  #checkMs = MIN_LOG_CHECK_MS;
  /** The log's size at the last check; `undefined` if the log did not exist. */
  #sizeBytes: number | undefined;
  readonly #growth: LogGrowth;
  /** `order` of the newest rotated log (see `RotatedLog`); '' if there is none, `undefined` until the directory has been read. */
  #newest: string | undefined;
  /** False if the log has no rotated files left to compress. */
  #hasUncompressed = true;

  constructor(input: LogInput) {
    this.#input = input;
    this.id = input.id;
    this.podUid = input.podUid;
    this.#growth = new LogGrowth(input.policy.maxSizeBytes);
    background(input.logger, 'a container log is no longer watched', this.check());
  }

  close(): void {
    this.#closed = true;
    this.#timer?.[Symbol.dispose]();
    this.#watcher?.close();
  }

  /** Rotates the log if it is too large. Never rejects. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #check(): Promise<void> {
    const { id, logPath, logger } = this.#input;
    try {
      if (this.#closed) return;
      this.#watch();
      const sizeBytes = await sizeOf(logPath);
      const hasGrown = sizeBytes !== this.#sizeBytes;
      this.#sizeBytes = sizeBytes;
      this.#checkMs = MAX_LOG_CHECK_MS;
      if (sizeBytes === undefined) return await this.#reopenLost();
      const verdict = this.#growth.judge(sizeBytes, performance.now());
      if (verdict.kind === 'rotate') await this.#rotate();
      else if (hasGrown || this.#watcher !== undefined) this.#checkMs = verdict.afterMs;
    } catch (error) {
      this.#checkMs = MAX_LOG_CHECK_MS;
      this.#unwatch(); // the file may have been replaced
      this.#watch();
      logger.warn({ id, logPath, error: errorMessage(error) }, 'the container log could not be rotated');
    } finally {
      if (this.#watcher === undefined) this.#written(); // without a watch, schedule the next check as if the log had been written
    }
  }

  /** Asks the container runtime to reopen the log: a process has renamed the file, so the runtime is still writing to the renamed file. */
  async #reopenLost(): Promise<void> {
    const { cri, id, logPath } = this.#input;
    if (this.#watcher === undefined && (await rotatedLogs(logPath)).length === 0) return; // there has never been a log
    await cri.runtime.reopenContainerLog({ containerId: id });
    this.#isNew();
  }

  #watch(): void {
    if (this.#watcher !== undefined) return;
    closeDirectories(this.#input.logPath);
    try {
      this.#watcher = watch(this.#input.logPath, { persistent: false }, () => this.#written());
      this.#watcher.on('error', () => this.#unwatch());
    } catch {
      // the file is missing or the inotify watch limit has been reached: poll the log, and retry on the next check
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #written(): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#growth.due(performance.now() + this.#checkMs);
    this.#timer = new Timer(() => {
      this.#timer = undefined;
      // run another check after the current one, which may have read the size before the last write
      const next = (this.#checking ?? Promise.resolve()).then(() => this.check());
      background(this.#input.logger, 'a container log is no longer watched', next);
    }, this.#checkMs);
    this.#timer.unref();
  }

  /** Renames the log and has the container runtime open a new one; only then removes surplus rotated logs, which can take longer. */
  async #rotate(): Promise<void> {
    const { cri, id, logPath, policy } = this.#input;
    this.#newest ??= (await rotatedLogs(logPath)).at(-1)?.order ?? '';
    const { path, order } = nextRotated(logPath, this.#newest, new Date());
    this.#newest = order;
    this.#hasUncompressed = true;
    await rename(logPath, path);
    await cri.runtime.reopenContainerLog({ containerId: id }).catch(async (error: unknown) => {
      if (!mayYetReopen(error)) await putBack(path, logPath);
      throw error;
    });
    this.#isNew();
    this.#checkMs = MIN_LOG_CHECK_MS;
    this.#timer?.[Symbol.dispose](); // a write to the old file may have set it
    this.#timer = undefined;
    this.#written();
    await removeOldest(logPath, policy.maxFiles - 1);
  }

  #isNew(): void {
    this.#growth.rotated(performance.now());
    this.#unwatch();
    this.#watch();
  }

  /** Compresses rotated logs that are old enough, except for the newest, which readers may still be using. Never rejects. */
  async compress(): Promise<void> {
    if (!this.#hasUncompressed) return;
    const { id, logPath, policy, logger, compressing, compressAfterMs = LOG_COMPRESS_AFTER_MS } = this.#input;
    this.#hasUncompressed = false; // a rotation during the compression sets it again
    try {
      if (await compressing.run(() => compressRotated(logPath, Date.now() - compressAfterMs)))
        this.#hasUncompressed = true;
      await removeOldest(logPath, policy.maxFiles - 1); // a compression may have restored a removed file
    } catch (error) {
      this.#hasUncompressed = true;
      if (this.#closed || isErrno(error, 'ENOENT')) return; // the file was removed in the meantime, with its container or as the oldest
      logger.warn({ id, logPath, error: errorMessage(error) }, 'a rotated log could not be compressed');
    }
  }
}

/** Restricts access to the log directories, which earlier versions created as world-readable. */
function closeDirectories(logPath: string): void {
  for (const directory of [dirname(logPath), dirname(dirname(logPath))]) mendMode(directory, LOG_DIRECTORY);
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function removeOldest(logPath: string, keep: number): Promise<void> {
  const files = await rotatedLogs(logPath);
  for (const { path } of files.slice(0, Math.max(0, files.length - Math.max(0, keep))))
    for (const one of [path, `${path}.tmp`]) await rm(one, { force: true });
}

/** Compresses rotated logs last written before `untilMs`. Returns true if newer uncompressed ones remain. */
async function compressRotated(logPath: string, untilMs: number): Promise<boolean> {
  let hasYounger = false;
  for (const { path, isCompressed } of (await rotatedLogs(logPath)).slice(0, -1)) {
    if (isCompressed) continue;
    const file = await lstat(path);
    if (file.mtimeMs > untilMs) hasYounger = true;
    else if (file.isFile()) await compress(path);
  }
  return hasYounger;
}

/**
 * Compresses a file without following symlinks, because a pod with write access to the directory could otherwise redirect reads and writes
 * to other files on the host.
 */
async function compress(file: string): Promise<void> {
  const temporary = `${file}.tmp`;
  await rm(temporary, { force: true }); // left by an interrupted compression
  await using from = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  await using to = await open(temporary, 'wx', LOG_FILE);
  await pipeline(from.createReadStream(), createGzip(), to.createWriteStream());
  await rename(temporary, `${file}.gz`);
  await rm(file, { force: true });
}

/**
 * Whether the container runtime may still execute a ReopenContainerLog call that failed with this error, and so create a file at the log
 * path.
 */
const mayYetReopen = (error: unknown) => ['cancelled', 'deadline_exceeded', 'unavailable'].includes(errorCode(error));

/** Renames a rotated log back unless a new log file exists, because the container runtime may have opened one before failing. */
async function putBack(rotated: string, logPath: string): Promise<void> {
  try {
    await link(rotated, logPath);
    await rm(rotated);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
}
