/** A watch over HTTP: one JSON object per line, with the active faults. */
import type { Fault } from './faults.ts';
import type { HttpExchange } from './http-exchange.ts';
import type { WatchEvent } from './watch.ts';

/** Writes events with the faults of the watch. */
export class WatchStream {
  readonly #exchange: HttpExchange;
  readonly #faults: Fault[];
  #sent = 0;
  #isLive = false;
  #held: WatchEvent | undefined;
  #isOver = false;

  constructor(exchange: HttpExchange, faults: Fault[]) {
    this.#exchange = exchange;
    this.#faults = faults;
  }

  /** Sends the headers before the first event, because clients wait for them. */
  begin(): void {
    this.#exchange.begin(200, { 'content-type': 'application/json' });
    this.#cutIfDue();
  }

  /** Following events are live: they happened after the start of the watch. */
  live(): void {
    this.#isLive = true;
  }

  send(event: WatchEvent): void {
    if (event.isInitialEnd && this.#has('no-initial-end') !== undefined) return;
    if (this.#has('empty-stream') !== undefined) return;
    const delay = this.#has('delay-events');
    if (delay === undefined) this.#inOrder(event);
    else setTimeout(() => this.#inOrder(event), delay.ms).unref();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#exchange.end();
  }

  #inOrder(event: WatchEvent): void {
    if (this.#has('swap-events') === undefined || !this.#isLive || event.type === 'BOOKMARK') return this.#write(event);
    const held = this.#held;
    this.#held = held === undefined ? event : undefined;
    if (held === undefined) return;
    this.#write(event);
    this.#write(held);
  }

  #write({ type, object }: WatchEvent): void {
    if (this.#isOver) return;
    const line = `${JSON.stringify({ type, object })}\n`;
    const cut = this.#has('cut-in-line');
    if (cut !== undefined && this.#sent >= (cut.events ?? 0)) {
      this.#exchange.write(line.slice(0, Math.ceil(line.length / 2)));
      this.#cut();
      return;
    }
    this.#exchange.write(this.#has('repeat-events') === undefined ? line : line + line);
    this.#sent += 1;
    this.#cutIfDue();
  }

  #cutIfDue(): void {
    const end = this.#has('end-after');
    const cut = this.#has('cut-after');
    if (end !== undefined && this.#sent >= end.events) this.end();
    if (cut !== undefined && this.#sent >= cut.events) this.#cut();
  }

  /** Pending data is still sent. */
  #cut(): void {
    this.#isOver = true;
    setImmediate(() => this.#exchange.cut());
  }

  #has<K extends Fault['kind']>(kind: K): Extract<Fault, { kind: K }> | undefined {
    return this.#faults.find((fault): fault is Extract<Fault, { kind: K }> => fault.kind === kind);
  }
}
