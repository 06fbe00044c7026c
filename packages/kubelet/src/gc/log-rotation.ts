/** Rotates the logs of running containers as they grow. */
import { constants, type FSWatcher, watch } from 'node:fs';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import {
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
import { LEAST_LOG_LOOK_MS, MOST_LOG_LOOK_MS } from './limits.ts';
import { LogGrowth } from './log-growth.ts';

/** Age at which a rotated log is compressed: at 3 MB/s and more, one of 10 MiB with four others is removed before that. */
const LOG_COMPRESS_AFTER_MS = 10_000;

export type LogRotationPolicy = {
  maxSizeBytes: number;
  maxFiles: number;
  /** Logs that are compressed at a time. */
  maxWorkers: number;
};

type RotationInput = {
  cri: CriClient;
  logger: Logger;
  policy: LogRotationPolicy;
  /** A rotated file is compressed when it is so old: of a container that writes fast it is removed before that. */
  compressAfterMs?: number;
};

/** Follows the logs of the running containers of the pods that it is given, until it is closed. */
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

  /**
   * Looks at every log, for file systems that do not report changes, and compresses rotated files that are old enough. To be called
   * now and then. Resolves when both is done.
   */
  async lookAtAll(): Promise<void> {
    await Promise.all([...this.#logs.values()].map((log) => log.look()));
    await Promise.all([...this.#logs.values()].map((log) => log.compress()));
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
 * One log. inotify reports when something was written; the log is then looked at after as long as it takes at least to fill it, so
 * that a container that writes fast is seen in time and one that writes much costs little.
 */
class FollowedLog {
  readonly id: string;
  readonly podUid: string;
  readonly #input: LogInput;
  #watcher: FSWatcher | undefined;
  #timer: Timer | undefined;
  #looking: Promise<void> | undefined;
  #closed = false;
  #lookMs = LEAST_LOG_LOOK_MS;
  /** As last seen; undefined while there is no file. */
  #sizeBytes: number | undefined;
  readonly #growth: LogGrowth;
  /** The `order` of the newest rotated file, once one is known. */
  #newest: string | undefined;
  /** Whether there may be rotated files that are not compressed. */
  #hasUncompressed = true;

  constructor(input: LogInput) {
    this.#input = input;
    this.id = input.id;
    this.podUid = input.podUid;
    this.#growth = new LogGrowth(input.policy.maxSizeBytes);
    void this.look();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.[Symbol.dispose]();
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
      const sizeBytes = await sizeOf(logPath);
      const hasGrown = sizeBytes !== this.#sizeBytes;
      this.#sizeBytes = sizeBytes;
      this.#lookMs = MOST_LOG_LOOK_MS;
      if (sizeBytes === undefined) return await this.#reopenLost();
      const verdict = this.#growth.judge(sizeBytes, performance.now());
      if (verdict.kind === 'rotate') await this.#rotate();
      else if (hasGrown || this.#watcher !== undefined) this.#lookMs = verdict.afterMs;
    } catch (error) {
      this.#lookMs = MOST_LOG_LOOK_MS;
      this.#unwatch(); // the file may be another one now
      this.#watch();
      logger.warn({ id, logPath, error: errorMessage(error) }, 'the container log could not be rotated');
    } finally {
      if (this.#watcher === undefined) this.#written(); // there is no watch, so schedule the next look as if the log had been written
    }
  }

  /** The log was moved away, by us or by another process, and the runtime still writes to that file. */
  async #reopenLost(): Promise<void> {
    const { cri, id, logPath } = this.#input;
    if (this.#watcher === undefined && (await rotatedLogs(logPath)).length === 0) return; // it never was there
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
      // it is not there yet, or inotify is used up: it is looked at by time, and the next look tries again
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #written(): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#growth.due(performance.now() + this.#lookMs);
    this.#timer = new Timer(() => {
      this.#timer = undefined;
      // a look that is under way may have seen the size already
      void (this.#looking ?? Promise.resolve()).then(() => this.look());
    }, this.#lookMs);
    this.#timer.unref();
  }

  /** The container's next lines are in a new file before anything that takes long. */
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
    this.#lookMs = LEAST_LOG_LOOK_MS;
    this.#written();
    await removeOldest(logPath, policy.maxFiles - 1);
  }

  #isNew(): void {
    this.#growth.rotated(performance.now());
    this.#unwatch();
    this.#watch();
  }

  /** Compresses the rotated files that are old enough, but for the newest: a reader may still be in that. Never rejects. */
  async compress(): Promise<void> {
    if (!this.#hasUncompressed) return;
    const { id, logPath, policy, logger, compressing, compressAfterMs = LOG_COMPRESS_AFTER_MS } = this.#input;
    this.#hasUncompressed = false; // a rotation while this runs sets it again
    try {
      if (await compressing.run(() => compressRotated(logPath, Date.now() - compressAfterMs)))
        this.#hasUncompressed = true;
      await removeOldest(logPath, policy.maxFiles - 1); // one may have been removed and come back compressed
    } catch (error) {
      this.#hasUncompressed = true;
      if (this.#closed || isErrno(error, 'ENOENT')) return; // it is the oldest, or its container, by now
      logger.warn({ id, logPath, error: errorMessage(error) }, 'a rotated log could not be compressed');
    }
  }
}

/** Directories of logs that an earlier version made were open to everybody on the host. */
function closeDirectories(logPath: string): void {
  for (const directory of [dirname(logPath), dirname(dirname(logPath))]) mendMode(directory, LOG_DIRECTORY);
}

/** `undefined` without the file. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Keeps so many rotated files. */
async function removeOldest(logPath: string, keep: number): Promise<void> {
  const files = await rotatedLogs(logPath);
  for (const { path } of files.slice(0, Math.max(0, files.length - Math.max(0, keep))))
    for (const one of [path, `${path}.tmp`]) await rm(one, { force: true });
}

/** Resolves with whether there are others that were written to since. */
async function compressRotated(logPath: string, untilMs: number): Promise<boolean> {
  let isLeft = false;
  for (const { path, isCompressed } of (await rotatedLogs(logPath)).slice(0, -1)) {
    if (isCompressed) continue;
    const file = await lstat(path);
    if (file.mtimeMs > untilMs) isLeft = true;
    else if (file.isFile()) await compress(path);
  }
  return isLeft;
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

/** A call that was given up may be heard later: then the runtime replaces what is at the path of the log. */
const mayYetReopen = (error: unknown) => ['cancelled', 'deadline_exceeded', 'unavailable'].includes(errorCode(error));

/** Moves a log back to its place, unless there is a new one: the runtime may have opened that and failed afterwards. */
async function putBack(rotated: string, logPath: string): Promise<void> {
  try {
    await link(rotated, logPath);
    await rm(rotated);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
}
