/** A record of requests and responses in order, so that tests can compare the requests of clients. */

export type RecordedRequest = {
  method: string;
  path: string;
  /** Without the question mark. */
  query: string;
  /** The RBAC verb, '' for paths without a resource. */
  verb: string;
  /** The plural, including `/subresource`. */
  resource: string;
  namespace: string;
  name: string;
  user: string;
  userAgent: string;
  contentType: string;
  /** The parsed JSON, or the text. */
  body: unknown;
  requestBytes: number;
  /** 0 until the headers have been sent. */
  status: number;
  responseBytes: number;
  /** Whether the response has ended. */
  isOver: boolean;
  /** `performance.now()` on arrival. */
  at: number;
  httpVersion: string;
};

export type RequestSelection = Partial<
  Pick<RecordedRequest, 'method' | 'verb' | 'resource' | 'namespace' | 'name' | 'user'>
>;

export class RequestRecord {
  readonly #all: RecordedRequest[] = [];
  #waiting: (() => void)[] = [];

  get all(): readonly RecordedRequest[] {
    return this.#all;
  }

  add(request: RecordedRequest): void {
    this.#all.push(request);
    this.changed();
  }

  /** Notifies waiters that a request has changed. */
  changed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  of(selection: RequestSelection): RecordedRequest[] {
    const wanted = Object.entries(selection);
    return this.#all.filter((request) =>
      wanted.every(([field, value]) => request[field as keyof RequestSelection] === value),
    );
  }

  /** Waits until there are more than `after` requests of the selection; bounded. */
  async waitFor(
    selection: RequestSelection,
    { after = 0, timeoutMs = 30_000 }: { after?: number; timeoutMs?: number } = {},
  ): Promise<RecordedRequest> {
    const end = performance.now() + timeoutMs;
    for (;;) {
      const found = this.of(selection)[after];
      if (found !== undefined) return found;
      const left = end - performance.now();
      if (left <= 0)
        throw new Error(
          `no request ${JSON.stringify(selection)} arrived within ${timeoutMs} ms (after ${after} others)`,
        );
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  clear(): void {
    this.#all.length = 0;
  }
}
