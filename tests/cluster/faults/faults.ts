/** Faults that a test switches on and off. Each affects the requests that match its selection, from now on or for a number of requests. */

export type FaultSelection = {
  /** The RBAC verb: get, list, watch, create, update, patch, delete, deletecollection. Default any. */
  verb?: string;
  /** The plural, with `/subresource` for a subresource: `pods`, `pods/status`. Default any. */
  resource?: string;
  name?: string;
  /** The common name of the client's certificate, such as `system:node:one`. */
  user?: string;
  /** A part of the URL's query. */
  query?: string;
  /** Number of affected requests. Default unlimited. */
  times?: number;
};

// biome-ignore lint/suspicious/noExplicitAny: tests change objects of every kind
type AnyObject = any;

export type Fault =
  /** The response is an error in the server's wording, or has a custom `body`. The server does not receive the request. */
  | { kind: 'status'; code: number; reason?: string; message?: string; retryAfterSeconds?: number; body?: string }
  /** The connection is closed before a response. The server does not receive the request. */
  | { kind: 'cut-before-headers' }
  /** The connection is closed within the response; for a watch within the line after `events` events. */
  | { kind: 'cut-in-line'; events?: number }
  /** A watch ends without an error after so many events. */
  | { kind: 'end-after'; events: number }
  /** The connection of a watch is closed after so many events. */
  | { kind: 'cut-after'; events: number }
  /** The write is executed, and its response is lost. */
  | { kind: 'lose-answer' }
  /** Each event of a watch is delayed. */
  | { kind: 'delay-events'; ms: number }
  /** Each event of a watch is sent twice. */
  | { kind: 'repeat-events' }
  /** Each two live events of a watch are swapped. */
  | { kind: 'swap-events' }
  /** Each object in a JSON response, list or watch is replaced, for example by that of a newer server. */
  | { kind: 'replace-objects'; by: (object: AnyObject) => AnyObject };

export type FaultTarget = { verb: string; resource: string; name: string; user: string; query: string };

type Entry = { fault: Fault; selection: FaultSelection; left: number };

/** An active fault; `remove` switches it off. */
export type ActiveFault = { remove(): void };

export class Faults {
  readonly #entries: Entry[] = [];

  add(fault: Fault, selection: FaultSelection = {}): ActiveFault {
    const entry: Entry = { fault, selection, left: selection.times ?? Number.POSITIVE_INFINITY };
    this.#entries.push(entry);
    return {
      remove: () => {
        entry.left = 0;
      },
    };
  }

  clear(): void {
    this.#entries.length = 0;
  }

  /** The faults for a request; each counts as used once. */
  take(target: FaultTarget): Fault[] {
    const chosen = this.#entries.filter(({ selection, left }) => left > 0 && isSelected(selection, target));
    for (const entry of chosen) entry.left -= 1;
    return chosen.map(({ fault }) => fault);
  }
}

function isSelected({ query = '', ...selection }: FaultSelection, target: FaultTarget): boolean {
  const fields = ['verb', 'resource', 'name', 'user'] as const;
  return (
    target.query.includes(query) &&
    fields.every((field) => selection[field] === undefined || selection[field] === target[field])
  );
}
