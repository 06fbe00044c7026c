/** Stops pods in order before the host shuts down, using a delay lock of systemd-logind (pkg/kubelet/nodeshutdown). */
import { background, errorMessage, type Logger, PodwrightError, pause, sleep } from '@podwright/base';
import { type EventRecorder, nodeSubject } from '@podwright/kube-api';
import type { ShutdownPeriod } from '@podwright/kubelet-configuration';
import { REFUSED_AT_SHUTDOWN, type WaitingReason } from '../kubecontainer/sync-result.ts';
import { endPodsInOrder, type PodEnder } from './end-pods.ts';
import type { InhibitLock } from './inhibit-lock.ts';
import { INHIBIT_DELAY_CHECKS_MS, LOGIND_RETRY_MS } from './limits.ts';
import { connectLogind, type Logind } from './logind.ts';
import { wholePeriodMs } from './shutdown-groups.ts';
import type { ShutdownRecord } from './shutdown-record.ts';

export type NodeShutdownOptions = {
  /** The shutdown periods by pod priority. If there are none, pods are not stopped before a shutdown. */
  periods: ShutdownPeriod[];
  nodeName: string;
  events: EventRecorder;
  logger: Logger;
  record: ShutdownRecord;
  /** Connects to logind; overridden in tests. */
  connect?: typeof connectLogind;
};

export class NodeShutdown {
  readonly #options: NodeShutdownOptions;
  readonly #controller = new AbortController();
  readonly #listeners = new Set<() => void>();
  /**
   * True if logind's last announcement was a shutdown, false if it was a cancellation. `#isShuttingDown` is updated when the announcement
   * is handled.
   */
  #isAnnounced = false;
  #isShuttingDown = false;
  #logind: Logind | undefined;
  #lock: InhibitLock | undefined;
  /**
   * Whether this process has written the logind drop-in file. If so, reconnecting reloads logind only if the file's content has changed.
   * Otherwise, if another drop-in file overrides it, logind would be reloaded on every reconnect.
   */
  #hasSetDelay = false;
  /** Serializes the handling of shutdowns and cancellations. */
  #work: Promise<void> = Promise.resolve();
  #loop: Promise<void> = Promise.resolve();

  constructor(options: NodeShutdownOptions) {
    this.#options = options;
  }

  /** Returns the reason why the node is not ready; `undefined` unless the host is shutting down. */
  problem(): string | undefined {
    return this.#isShuttingDown ? 'node is shutting down' : undefined;
  }

  /** Returns the reason why new pods are rejected; `undefined` unless the host is shutting down. */
  refusal(): WaitingReason | undefined {
    return this.#isShuttingDown ? REFUSED_AT_SHUTDOWN : undefined;
  }

  /** Calls the listener when `problem()` has changed. The returned function unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes the inhibitor lock in the background. If logind is unavailable, logs an error; pods are then not stopped before a shutdown. */
  start(ender: PodEnder): void {
    if (this.#options.periods.length > 0) this.#loop = this.#run(ender);
  }

  /** Stops watching for shutdowns, and releases the inhibitor lock. */
  async stop(): Promise<void> {
    this.#controller.abort();
    await this.#loop;
    await this.#work;
    await this.#release();
  }

  async #run(ender: PodEnder): Promise<void> {
    const { logger, record } = this.#options;
    await record.load();
    try {
      await this.#begin(ender);
    } catch (error) {
      if (this.#controller.signal.aborted) return;
      const fields = { error: errorMessage(error) };
      logger.error(
        fields,
        'pods will not be stopped before the host shuts down: failed to delay shutdowns with systemd-logind',
      );
      return;
    }
    await this.#reconnect(ender);
  }

  /** Reconnects to logind whenever the connection is lost. */
  async #reconnect(ender: PodEnder): Promise<void> {
    const { logger } = this.#options;
    const { signal } = this.#controller;
    let problem = '';
    for (;;) {
      const why = await this.#logind?.closed;
      if (signal.aborted) return;
      if (why !== undefined) logger.warn({ error: why }, 'the connection to systemd-logind was lost; trying again');
      this.#logind = undefined;
      await pause(LOGIND_RETRY_MS, signal);
      if (signal.aborted) return;
      try {
        await this.#begin(ender);
        problem = '';
      } catch (error) {
        if (signal.aborted) return;
        const message = errorMessage(error);
        if (message !== problem) logger.error({ error: message }, 'failed to delay shutdowns with systemd-logind');
        problem = message;
      }
    }
  }

  async #begin(ender: PodEnder): Promise<void> {
    const { connect = connectLogind, periods, logger } = this.#options;
    const { signal } = this.#controller;
    let wasAnnounced = false;
    const onShutdown = (begins: boolean) => {
      wasAnnounced = true;
      this.#announce(begins, ender);
    };
    const logind = await connect(onShutdown, signal);
    try {
      await this.#ensureDelay(logind, wholePeriodMs(periods));
      const isShuttingDown = await logind.isShuttingDown();
      if (!isShuttingDown) await this.#take(logind);
      if (!wasAnnounced) this.#announce(isShuttingDown, ender); // the shutdown may have begun before the connection
    } catch (error) {
      logind.close();
      throw error;
    }
    this.#logind = logind;
    logger.info({ periods }, 'pods will be stopped before the host shuts down');
  }

  /** Raises logind's InhibitDelayMax if necessary. It caps all shutdown delays, and defaults to 5 s. */
  async #ensureDelay(logind: Logind, wantedMs: number): Promise<void> {
    let currentMs = await logind.inhibitDelayMs();
    if (wantedMs <= currentMs) return;
    await logind.setInhibitDelay(wantedMs, { again: this.#hasSetDelay });
    this.#hasSetDelay = true;
    for (const pauseMs of INHIBIT_DELAY_CHECKS_MS) {
      await sleep(pauseMs, this.#controller.signal);
      currentMs = await logind.inhibitDelayMs();
      if (wantedMs <= currentMs) return;
    }
    const message = `InhibitDelayMaxSec of systemd-logind is ${currentMs / 1000} s, and must be ${wantedMs / 1000} s: another file in /etc/systemd/logind.conf.d sets it`;
    throw new PodwrightError('failed_precondition', message);
  }

  async #take(logind: Logind): Promise<void> {
    const lock = await logind.inhibit(this.#controller.signal);
    await this.#release();
    this.#lock = lock;
    const reconnecting = lock.ended.then(() => {
      if (this.#lock === lock) logind.close(); // makes `#reconnect` connect again and take a new lock
    });
    background(this.#options.logger, 'the lock against a shutdown of the host is no longer watched', reconnecting);
  }

  async #release(): Promise<void> {
    const lock = this.#lock;
    this.#lock = undefined;
    await lock?.release();
  }

  /** Handles a logind announcement that a shutdown has begun or was cancelled. Announcements are handled one at a time. */
  #announce(begins: boolean, ender: PodEnder): void {
    if (begins === this.#isAnnounced) return;
    this.#isAnnounced = begins;
    const { events, nodeName, logger } = this.#options;
    logger.info({}, begins ? 'the host is shutting down' : 'the shutdown of the host was cancelled');
    const what = `Shutdown manager detected shutdown ${begins ? 'event' : 'cancellation'}`;
    events.event(nodeSubject(nodeName), 'Normal', 'NodeShutdown', what);
    this.#work = this.#work.then(async () => {
      this.#isShuttingDown = begins;
      for (const listener of this.#listeners) listener();
      await (begins ? this.#endPods(ender) : this.#recover(ender));
    });
    background(logger, 'pods could not be ended before the host shuts down', this.#work);
  }

  async #endPods(ender: PodEnder): Promise<void> {
    const { periods, record, logger } = this.#options;
    const startMs = Date.now();
    await record.save({ startMs, endMs: undefined });
    await endPodsInOrder(ender, periods, this.#controller.signal);
    await record.save({ startMs, endMs: Date.now() });
    await this.#release();
    logger.info({}, 'released the lock that delayed the shutdown of the host');
  }

  /** Restarts pods after a cancelled shutdown, and takes an inhibitor lock for the next one. */
  async #recover(ender: PodEnder): Promise<void> {
    const { logger } = this.#options;
    if (this.#controller.signal.aborted) return;
    ender.bringBack();
    const logind = this.#logind;
    if (logind === undefined) return; // a new connection takes a new lock
    await this.#take(logind).catch((error: unknown) => {
      logger.error({ error: errorMessage(error) }, 'the next shutdown of the host will not be delayed');
      logind.close();
    });
  }
}
