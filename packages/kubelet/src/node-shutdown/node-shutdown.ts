/** Ends pods in order before the host shuts down, where systemd-logind lets us delay that (pkg/kubelet/nodeshutdown). */
import { errorMessage, type Logger, PodwrightError, sleep } from '@podwright/base';
import { type EventRecorder, nodeSubject } from '@podwright/kube-api';
import { REFUSED_AT_SHUTDOWN, type WaitingReason } from '../kubecontainer/sync-result.ts';
import { endPodsInOrder, type PodEnder } from './end-pods.ts';
import type { InhibitLock } from './inhibit-lock.ts';
import { INHIBIT_DELAY_LOOKS_MS, LOGIND_RETRY_MS } from './limits.ts';
import { connectLogind, type Logind } from './logind.ts';
import { type ShutdownPeriod, wholePeriodMs } from './shutdown-groups.ts';
import type { ShutdownRecord } from './shutdown-record.ts';

export type NodeShutdownOptions = {
  /** None: pods are not ended. */
  periods: ShutdownPeriod[];
  nodeName: string;
  events: EventRecorder;
  logger: Logger;
  record: ShutdownRecord;
  /** For tests. */
  connect?: typeof connectLogind;
};

export class NodeShutdown {
  readonly #options: NodeShutdownOptions;
  readonly #controller = new AbortController();
  readonly #listeners = new Set<() => void>();
  /** What logind has said last, and what has begun to follow from it. */
  #isTold = false;
  #isGoing = false;
  #logind: Logind | undefined;
  #lock: InhibitLock | undefined;
  /** Another file of the host's may win over ours: a logind that comes back is not asked each second. */
  #hasAskedDelay = false;
  /** What shutdowns and cancellations lead to, one after the other. */
  #work: Promise<void> = Promise.resolve();
  #loop: Promise<void> = Promise.resolve();

  constructor(options: NodeShutdownOptions) {
    this.#options = options;
  }

  /** Why the node is not ready; `undefined` while its host does not shut down. */
  problem(): string | undefined {
    return this.#isGoing ? 'node is shutting down' : undefined;
  }

  /** Why a new pod may not run. */
  refusal(): WaitingReason | undefined {
    return this.#isGoing ? REFUSED_AT_SHUTDOWN : undefined;
  }

  /** Calls back when `problem` has changed; returns what ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes the lock, in the background; without logind that is told, and pods are not ended. */
  start(ender: PodEnder): void {
    if (this.#options.periods.length > 0) this.#loop = this.#run(ender);
  }

  /** The host waits no more. */
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
      logger.error(fields, 'pods are not ended before the host shuts down: systemd-logind cannot be asked to wait');
      return;
    }
    await this.#keepUp(ender);
  }

  /** As there was a logind once, it is found again. */
  async #keepUp(ender: PodEnder): Promise<void> {
    const { logger } = this.#options;
    const { signal } = this.#controller;
    let problem = '';
    for (;;) {
      const why = await this.#logind?.closed;
      if (signal.aborted) return;
      if (why !== undefined) logger.warn({ error: why }, 'the connection to systemd-logind was lost; trying again');
      this.#logind = undefined;
      await sleep(LOGIND_RETRY_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await this.#begin(ender);
        problem = '';
      } catch (error) {
        if (signal.aborted) return;
        const message = errorMessage(error);
        if (message !== problem) logger.error({ error: message }, 'systemd-logind cannot be asked to wait');
        problem = message;
      }
    }
  }

  async #begin(ender: PodEnder): Promise<void> {
    const { connect = connectLogind, periods, logger } = this.#options;
    const { signal } = this.#controller;
    let wasTold = false;
    const onShutdown = (begins: boolean) => {
      wasTold = true;
      this.#told(begins, ender);
    };
    const logind = await connect(onShutdown, signal);
    try {
      await this.#haveDelay(logind, wholePeriodMs(periods));
      const isShuttingDown = await logind.isShuttingDown();
      if (!isShuttingDown) await this.#take(logind);
      if (!wasTold) this.#told(isShuttingDown, ender); // perhaps nobody listened when it began
    } catch (error) {
      logind.close();
      throw error;
    }
    this.#logind = logind;
    logger.info({ periods }, 'pods are ended before the host shuts down');
  }

  /** A shutdown is not delayed for longer than logind's own limit, which is 5 s unless it is configured. */
  async #haveDelay(logind: Logind, wantedMs: number): Promise<void> {
    let currentMs = await logind.inhibitDelayMs();
    if (wantedMs <= currentMs) return;
    await logind.setInhibitDelay(wantedMs, { again: this.#hasAskedDelay });
    this.#hasAskedDelay = true;
    for (const pauseMs of INHIBIT_DELAY_LOOKS_MS) {
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
    void lock.ended.then(() => {
      if (this.#lock === lock) logind.close(); // everything from the start again
    });
  }

  async #release(): Promise<void> {
    const lock = this.#lock;
    this.#lock = undefined;
    await lock?.release();
  }

  /** Logind tells it; what follows from one change is done before what follows from the next. */
  #told(begins: boolean, ender: PodEnder): void {
    if (begins === this.#isTold) return;
    this.#isTold = begins;
    const { events, nodeName, logger } = this.#options;
    logger.info({}, begins ? 'the host is shutting down' : 'the shutdown of the host was cancelled');
    const what = `Shutdown manager detected shutdown ${begins ? 'event' : 'cancellation'}`;
    events.event(nodeSubject(nodeName), 'Normal', 'NodeShutdown', what);
    this.#work = this.#work.then(async () => {
      this.#isGoing = begins;
      for (const listener of this.#listeners) listener();
      await (begins ? this.#endPods(ender) : this.#recover(ender));
    });
  }

  async #endPods(ender: PodEnder): Promise<void> {
    const { periods, record, logger } = this.#options;
    const startMs = Date.now();
    await record.save({ startMs, endMs: undefined });
    await endPodsInOrder(ender, periods, this.#controller.signal);
    await record.save({ startMs, endMs: Date.now() });
    await this.#release();
    logger.info({}, 'the host waits no more for pods to end');
  }

  /** The next shutdown is delayed again. */
  async #recover(ender: PodEnder): Promise<void> {
    const { logger } = this.#options;
    if (this.#controller.signal.aborted) return;
    ender.bringBack();
    const logind = this.#logind;
    if (logind === undefined) return; // a new connection takes a new lock
    await this.#take(logind).catch((error: unknown) => {
      logger.error({ error: errorMessage(error) }, 'the next shutdown of the host is not delayed');
      logind.close();
    });
  }
}
