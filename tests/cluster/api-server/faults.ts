/** Faults that a test switches on and off. Each affects the requests that match its selection, from now on or for a number of requests. */

export type FaultSelection = {
  /** The RBAC verb: get, list, watch, create, update, patch, delete, deletecollection. Default any. */
  verb?: string;
  /** The plural, with `/subresource` for a subresource: `pods`, `pods/status`. Default any. */
  resource?: string;
  namespace?: string;
  name?: string;
  /** The requesting user, such as `system:node:one`. */
  user?: string;
  /** Number of affected requests. Default unlimited. */
  times?: number;
};

export type Fault =
  /** The response is an error in the server's wording, or with a custom `body`. */
  | { kind: 'status'; code: number; reason?: string; message?: string; retryAfterSeconds?: number; body?: string }
  /** The connection is closed before a response. */
  | { kind: 'cut-before-headers' }
  /** The connection is closed within the response; for a watch within the line after `events` events. */
  | { kind: 'cut-in-line'; events?: number }
  /** A watch ends without an error after so many events. */
  | { kind: 'end-after'; events: number }
  /** The connection of a watch is closed after so many events. */
  | { kind: 'cut-after'; events: number }
  /** The response is delayed. */
  | { kind: 'late'; ms: number }
  /** The write is executed, and its response is lost. */
  | { kind: 'lose-answer' }
  /** A watch is accepted with 200, and receives nothing; `close` ends it immediately. */
  | { kind: 'empty-stream'; close?: boolean }
  /** Watches cannot send initial events, like on a server with WatchList disabled. */
  | { kind: 'no-watch-list' }
  /** The bookmark that ends the initial events is omitted. */
  | { kind: 'no-initial-end' }
  /** A watch from any version is too old: reported by HTTP status, or as an ERROR event in the stream. */
  | { kind: 'expired'; as: 'status' | 'event' }
  /** Each event of a watch is delayed. */
  | { kind: 'delay-events'; ms: number }
  /** Each event of a watch is sent twice. */
  | { kind: 'repeat-events' }
  /** Each two live events of a watch are swapped. */
  | { kind: 'swap-events' };

export type FaultTarget = { verb: string; resource: string; namespace: string; name: string; user: string };

type Entry = { fault: Fault; selection: FaultSelection; left: number };

/** An active fault; `remove` switches it off. */
export type ActiveFault = { remove(): void; readonly left: number };

export class Faults {
  readonly #entries: Entry[] = [];

  add(fault: Fault, selection: FaultSelection = {}): ActiveFault {
    const entry: Entry = { fault, selection, left: selection.times ?? Number.POSITIVE_INFINITY };
    this.#entries.push(entry);
    return {
      remove: () => {
        entry.left = 0;
      },
      get left() {
        return entry.left;
      },
    };
  }

  clear(): void {
    for (const entry of this.#entries.splice(0)) entry.left = 0;
  }

  /** The faults for a request; each counts as used once. */
  take(target: FaultTarget): Fault[] {
    const chosen = this.#entries.filter(({ selection, left }) => left > 0 && isSelected(selection, target));
    for (const entry of chosen) entry.left -= 1;
    return chosen.map(({ fault }) => fault);
  }
}

function isSelected(selection: FaultSelection, target: FaultTarget): boolean {
  const fields = ['verb', 'resource', 'namespace', 'name', 'user'] as const;
  return fields.every((field) => selection[field] === undefined || selection[field] === target[field]);
}
