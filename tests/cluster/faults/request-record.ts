/** An ordered record of requests and their responses, so that tests can check what clients send. */

export type RecordedRequest = {
  method: string;
  /** The URL's query, without the leading question mark. */
  query: string;
  /** The request's RBAC verb, such as `list`. */
  verb: string;
  /** Plural name, including any `/subresource`; '' for non-resource paths. */
  resource: string;
  namespace: string;
  name: string;
  /** The common name in the client's certificate; '' if it has none. */
  user: string;
  /** The part of the request body received so far. */
  body: string;
  /** The response's status code; 0 until the headers are sent. */
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

  /** Waits until more than `after` requests match the selection. Throws after `timeoutMs`. */
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
