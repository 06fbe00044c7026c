import { errorMessage, Limiter, type Logger, PodwrightError } from '@podwright/base';
import type { NamedRecord, RecordTable } from '@podwright/metadata';

const RECOVERIES_AT_ONCE = 8;

/** The records of a table that are visible to clients, which excludes records whose phase is in `hidden`. */
export class VisibleRecords<R extends NamedRecord & { state: { phase: string } }> {
  readonly #table: RecordTable<R>;
  readonly #hidden: readonly R['state']['phase'][];

  constructor(table: RecordTable<R>, hidden: readonly R['state']['phase'][]) {
    this.#table = table;
    this.#hidden = hidden;
  }

  /** Returns all visible records in order of creation. */
  list(): R[] {
    return this.#table.list().filter((record) => this.#isVisible(record));
  }

  /** Returns the visible record with this ID or unambiguous ID prefix. */
  find(idOrPrefix: string): R | undefined {
    const record = this.#table.find(idOrPrefix);
    return record !== undefined && this.#isVisible(record) ? record : undefined;
  }

  /** Like `find`, but throws `not_found` if there is no such record. */
  require(idOrPrefix: string): R {
    const record = this.find(idOrPrefix);
    if (record === undefined) throw new PodwrightError('not_found', `${this.#table.noun} "${idOrPrefix}" not found`);
    return record;
  }

  #isVisible({ state }: R): boolean {
    return !this.#hidden.includes(state.phase);
  }

  /** Calls `recover` for every record, several at a time. Failures are logged, and the record is retained. */
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
