import { Backoff, errorMessage, ignoreFailure, type Logger, PodwrightError, pause } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import type { Informer } from '@podwright/kube-client';
import type { NetlinkSocket, NftChain } from '@podwright/system';
import { OwnedTable } from './kernel/owned-table.ts';
import type { RuleLedger } from './ledger/rule-ledger.ts';

export type RuleLoopOptions = {
  /** Name of the nf_tables table. */
  table: string;
  socket: NetlinkSocket;
  ledger: RuleLedger;
  logger: Logger;
  checkIntervalMs: number | undefined;
  /** Updates the ledger with the rules of changed objects. */
  refresh: () => void | Promise<void>;
  /** Returns the table's fixed chains, which belong to no owner in the ledger. */
  frame: () => NftChain[];
  /** Called each time the kernel's rules have been brought up to date. */
  onApplied?: () => Promise<void>;
  /** Called at each periodic check of the table, to look for changes that cause no informer events. */
  onCheck?: () => void;
};

/** Minimum time between two transactions. Changes in the meantime are applied together. */
const BATCH_MS = 5;
const DEFAULT_CHECK_INTERVAL_MS = 5000;
const RETRY = { initialMs: 500, maxMs: 30_000 } as const;

/**
 * Keeps a table in the kernel in sync with a ledger: applies changes in batches, checks the table periodically, and retries after failures.
 */
export class RuleLoop {
  readonly synced: Promise<void>;
  readonly #options: RuleLoopOptions;
  readonly #table: OwnedTable;
  readonly #stopping = new AbortController();
  readonly #retries = new Backoff(RETRY);
  readonly #sync = Promise.withResolvers<void>();
  #work: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;
  #isChanged = true;
  #appliedAtMs = 0;
  #problem: string | undefined = 'the objects have not been read yet';

  constructor(options: RuleLoopOptions) {
    this.#options = options;
    this.#table = new OwnedTable({ name: options.table, socket: options.socket, logger: options.logger });
    this.synced = this.#sync.promise;
    ignoreFailure(this.synced, 'callers need not wait for it');
  }

  /** Starts once the informers have synced. Must be called only once. */
  start(informers: readonly Informer<KubeObject>[]): void {
    this.#work = this.#run(informers);
  }

  /** Must be called when an object has changed; the ledger and the kernel's table are then refreshed. */
  changed(): void {
    this.#isChanged = true;
    this.#wake();
  }

  /** Makes the next refresh replace the whole table. Must be called when the fixed chains (`frame`) have changed. */
  frameChanged(): void {
    this.#table.invalidate();
    this.changed();
  }

  /** Returns why the rules in the kernel are not current; `undefined` if they are. */
  problem(): string | undefined {
    return this.#problem;
  }

  /** Stops after the current transaction and closes the socket. The informers must already be stopped. Idempotent. */
  async stop({ removeRules }: { removeRules: boolean }): Promise<void> {
    const reason = new PodwrightError('cancelled', `the rules of the table ${this.#options.table} are no longer kept`);
    this.#stopping.abort(reason);
    this.#sync.reject(reason);
    this.#wake();
    await this.#work;
    try {
      if (removeRules) await this.#table.remove();
    } finally {
      this.#options.socket.close();
    }
  }

  async #run(informers: readonly Informer<KubeObject>[]): Promise<void> {
    const { checkIntervalMs = DEFAULT_CHECK_INTERVAL_MS } = this.#options;
    const { signal } = this.#stopping;
    const read = Promise.all(informers.map(({ synced }) => synced));
    const areRead = await read.then(
      () => true,
      () => false,
    );
    if (!areRead) return;
    for (let checkAtMs = 0; !signal.aborted; ) {
      const isCheck = performance.now() >= checkAtMs;
      if (isCheck) checkAtMs = performance.now() + checkIntervalMs;
      const retryMs = await this.#apply(isCheck);
      if (retryMs === undefined) await this.#waitForChange(checkAtMs - performance.now());
      else await pause(retryMs, signal);
    }
  }

  /** Waits up to `limitMs` for a change. Soon after the last transaction, waits a little longer for further ones. */
  async #waitForChange(limitMs: number): Promise<void> {
    const { signal } = this.#stopping;
    if (!this.#isChanged) {
      const changed = new AbortController();
      this.#wake = () => changed.abort();
      if (signal.aborted) return;
      await pause(limitMs, changed.signal);
    }
    const restMs = this.#appliedAtMs + BATCH_MS - performance.now();
    if (this.#isChanged && restMs > 0) await pause(restMs, signal);
  }

  /** Brings the kernel's rules up to date. If this fails, returns the delay before a retry. */
  async #apply(isCheck: boolean): Promise<number | undefined> {
    const { ledger, logger, table, refresh, frame, onApplied } = this.#options;
    this.#isChanged = false;
    try {
      if (isCheck) await this.#check();
      await refresh();
      await this.#table.apply(ledger, frame);
      this.#appliedAtMs = performance.now();
      this.#problem = undefined;
      await onApplied?.();
      this.#retries.forget('');
      this.#sync.resolve();
      return undefined;
    } catch (error) {
      this.#table.invalidate();
      this.#problem = errorMessage(error);
      logger.error({ table, error: this.#problem }, 'cannot apply the rules of a table: trying again');
      return this.#retries.next('');
    }
  }

  async #check(): Promise<void> {
    const { ledger, logger, table, onCheck } = this.#options;
    onCheck?.();
    if (await this.#table.invalidateIfChanged(ledger))
      logger.warn({ table }, 'another program changed the rules of a table: making them again');
  }
}
