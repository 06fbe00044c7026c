/** A record of requests and responses in order, so that tests can compare the requests of clients. */

export type RecordedRequest = {
  method: string;
  /** Without the question mark. */
  query: string;
  /** The RBAC verb. */
  verb: string;
  /** The plural, including `/subresource`; '' for paths without a resource. */
  resource: string;
  namespace: string;
  name: string;
  /** The common name of the client's certificate, '' without one. */
  user: string;
  /** The received part of the body. */
  body: string;
  /** 0 until the headers have been sent. */
  status: number;
  responseBytes: number;
  /** Whether the response has ended. */
  isOver: boolean;
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
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  of(selection: RequestSelection): RecordedRequest[] {
    const expected = Object.entries(selection);
    return this.#all.filter((request) =>
      expected.every(([field, value]) => request[field as keyof RequestSelection] === value),
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
