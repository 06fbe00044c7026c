/** Faults that a test turns on and off. A fault affects requests that match its selection, either all from now on or a limited number. */

export type FaultSelection = {
  /** RBAC verb: get, list, watch, create, update, patch, delete, deletecollection. Default: any. */
  verb?: string;
  /** Plural name, followed by `/subresource` for a subresource: `pods`, `pods/status`. Default: any. */
  resource?: string;
  name?: string;
  /** The common name of the client's certificate, such as `system:node:one`. */
  user?: string;
  /** A substring of the URL's query. */
  query?: string;
  /** Number of requests to affect. Default: unlimited. */
  times?: number;
};

// biome-ignore lint/suspicious/noExplicitAny: tests change objects of every kind
type AnyObject = any;

export type Fault =
  /** Responds with an error, worded as by the server unless a custom `body` is given. The server does not receive the request. */
  | { kind: 'status'; code: number; reason?: string; message?: string; retryAfterSeconds?: number; body?: string }
  /** Closes the connection before any response. The server does not receive the request. */
  | { kind: 'cut-before-headers' }
  /** Closes the connection in the middle of the response; for a watch, in the middle of the line that follows `events` events. */
  | { kind: 'cut-in-line'; events?: number }
  /** Ends a watch cleanly after this many events. */
  | { kind: 'end-after'; events: number }
  /** Closes a watch's connection after this many events. */
  | { kind: 'cut-after'; events: number }
  /** Executes the write but drops the server's response. */
  | { kind: 'lose-answer' }
  /** Delays each event of a watch. */
  | { kind: 'delay-events'; ms: number }
  /** Sends each event of a watch twice. */
  | { kind: 'repeat-events' }
  /** Swaps the live events of a watch in pairs. */
  | { kind: 'swap-events' }
  /** Replaces each object in a JSON response, list or watch, for example with one as sent by a newer server. */
  | { kind: 'replace-objects'; by: (object: AnyObject) => AnyObject };

export type FaultTarget = { verb: string; resource: string; name: string; user: string; query: string };

type Entry = { fault: Fault; selection: FaultSelection; left: number };

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

  /** Returns the faults that apply to a request, and counts a use of each. */
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
