import { errorMessage, Limiter, type Logger, PodwrightError } from '@podwright/base';
import type { NamedRecord, RecordTable } from '@podwright/metadata';

const RECOVERIES_AT_ONCE = 8;

/** What clients see of a table: the records that are in no phase of `hidden`. */
export class VisibleRecords<R extends NamedRecord & { state: { phase: string } }> {
  readonly #table: RecordTable<R>;
  readonly #hidden: readonly R['state']['phase'][];

  constructor(table: RecordTable<R>, hidden: readonly R['state']['phase'][]) {
    this.#table = table;
    this.#hidden = hidden;
  }

  /** In order of creation. */
  list(): R[] {
    return this.#table.list().filter((record) => this.#isVisible(record));
  }

  /** By id or unique prefix. */
  find(idOrPrefix: string): R | undefined {
    const record = this.#table.find(idOrPrefix);
    return record !== undefined && this.#isVisible(record) ? record : undefined;
  }

  /** As `find`; none is a `not_found`. */
  require(idOrPrefix: string): R {
    const record = this.find(idOrPrefix);
    if (record === undefined) throw new PodwrightError('not_found', `${this.#table.noun} "${idOrPrefix}" not found`);
    return record;
  }

  #isVisible({ state }: R): boolean {
    return !this.#hidden.includes(state.phase);
  }

  /** Calls `recover` with every record, some at once. One that fails is logged and keeps its record. */
  protected async recoverEach(logger: Logger, recover: (record: R) => Promise<void>): Promise<void> {
    const limiter = new Limiter(RECOVERIES_AT_ONCE);
    const { noun } = this.#table;
    const one = (record: R) =>
      recover(record).catch((error: unknown) => {
        logger.error({ [noun]: record.id, error: errorMessage(error) }, `${noun} could not be recovered`);
      });
    await Promise.all(this.#table.list().map((record) => limiter.run(() => one(record))));
  }
}
