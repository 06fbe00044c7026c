/** Faults that a test switches on and off. Each concerns the requests that it selects, from now on or for the next few. */

export type FaultSelection = {
  /** As RBAC names them: get, list, watch, create, update, patch, delete, deletecollection. Any unless given. */
  verb?: string;
  /** The plural, with `/subresource` where one is meant: `pods`, `pods/status`. Any unless given. */
  resource?: string;
  namespace?: string;
  name?: string;
  /** Whose requests: `system:node:one`. */
  user?: string;
  /** How often; without end unless given. */
  times?: number;
};

export type Fault =
  /** Answered with an error, as the server would word it. `body` stands for a body of its own. */
  | { kind: 'status'; code: number; reason?: string; message?: string; retryAfterSeconds?: number; body?: string }
  /** The connection ends before an answer. */
  | { kind: 'cut-before-headers' }
  /** The connection ends in the middle of the answer: of a watch in the middle of the line after `events` events. */
  | { kind: 'cut-in-line'; events?: number }
  /** A watch ends, without an error, after so many events. */
  | { kind: 'end-after'; events: number }
  /** The connection of a watch ends after so many events. */
  | { kind: 'cut-after'; events: number }
  /** The answer waits. */
  | { kind: 'late'; ms: number }
  /** The write happens, and its answer is lost. */
  | { kind: 'lose-answer' }
  /** A watch answers 200, and nothing more comes; `close` ends it at once. */
  | { kind: 'empty-stream'; close?: boolean }
  /** Watches cannot begin with all objects, as of a server whose WatchList is off. */
  | { kind: 'no-watch-list' }
  /** The bookmark that ends the first events is left out. */
  | { kind: 'no-initial-end' }
  /** A watch from any version is too old: by HTTP status, or as an ERROR event within a stream. */
  | { kind: 'expired'; as: 'status' | 'event' }
  /** Each event of a watch waits. */
  | { kind: 'delay-events'; ms: number }
  /** Each event of a watch comes twice. */
  | { kind: 'repeat-events' }
  /** Of each two live events of a watch the second comes first. */
  | { kind: 'swap-events' };

export type FaultTarget = { verb: string; resource: string; namespace: string; name: string; user: string };

type Entry = { fault: Fault; selection: FaultSelection; left: number };

/** A fault that is on; `remove` switches it off. */
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

  /** The faults of a request; each counts as used by it. */
  take(target: FaultTarget): Fault[] {
    const chosen = this.#entries.filter(({ selection, left }) => left > 0 && isMeant(selection, target));
    for (const entry of chosen) entry.left -= 1;
    return chosen.map(({ fault }) => fault);
  }
}

function isMeant(selection: FaultSelection, target: FaultTarget): boolean {
  const fields = ['verb', 'resource', 'namespace', 'name', 'user'] as const;
  return fields.every((field) => selection[field] === undefined || selection[field] === target[field]);
}
