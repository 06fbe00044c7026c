/** Responses with faults: wraps the response's functions to delay, change or drop what the server sends. */
import type { HttpResponse } from '../../../packages/api-server/src/wire/http-exchange.ts';
import type { Fault } from './faults.ts';

type Disturbance = {
  faults: readonly Fault[];
  isWatch: boolean;
  /** Whether the watch starts without initial events, so that all its events are live. */
  isLive: boolean;
  /** Closes the connection, which also aborts all other requests on it. */
  cut: () => void;
};

/** Receives what is actually sent to the client. Strings hold raw bytes (latin1), because a multi-byte character may be split. */
type Output = { write: (bytes: string) => void; end: () => void; cut: () => void };

type Faulty = { begin(): void; write(bytes: string): void; end(): void };

export function disturb(response: HttpResponse, disturbance: Disturbance): void {
  const { faults, isWatch, cut } = disturbance;
  const { writeHead, write, end } = boundFunctions(response);
  let isOver = false;
  const output: Output = {
    write: (bytes) => void (isOver || write(Buffer.from(bytes, 'latin1'))),
    end: () => void (isOver || end()),
    cut: () => {
      isOver = true;
      setImmediate(cut); // pending data is still sent
    },
  };
  const faulty = isWatch ? new FaultyWatch(output, disturbance) : new FaultyBody(output, faults);
  response.writeHead = (status, { 'content-length': _, ...headers }) => {
    if (faultOf(faults, 'lose-answer') !== undefined) return output.cut();
    writeHead(status, headers);
    if (status === 200) faulty.begin();
  };
  response.write = (chunk) => {
    faulty.write(Buffer.from(chunk).toString('latin1'));
    return true;
  };
  response.end = (chunk) => {
    if (chunk !== undefined) response.write(chunk);
    faulty.end();
  };
}

export const boundFunctions = (response: HttpResponse): Pick<HttpResponse, 'writeHead' | 'write' | 'end'> => ({
  writeHead: response.writeHead.bind(response),
  write: response.write.bind(response),
  end: response.end.bind(response),
});

const firstHalf = (text: string): string => text.slice(0, Math.ceil(text.length / 2));

class FaultyBody implements Faulty {
  readonly #output: Output;
  readonly #faults: readonly Fault[];
  #body = '';

  constructor(output: Output, faults: readonly Fault[]) {
    this.#output = output;
    this.#faults = faults;
  }

  begin(): void {}

  write(bytes: string): void {
    this.#body += bytes;
  }

  end(): void {
    const body = withReplacedObjects(this.#body, this.#faults);
    const isCut = faultOf(this.#faults, 'cut-in-line') !== undefined;
    this.#output.write(isCut ? firstHalf(body) : body);
    if (isCut) this.#output.cut();
    else this.#output.end();
  }
}

/** Applies faults to a watch, line by line. */
class FaultyWatch implements Faulty {
  readonly #output: Output;
  readonly #faults: readonly Fault[];
  /** The last, incomplete line of the watch received so far. */
  #rest = '';
  #sent = 0;
  #isLive: boolean;
  #held: string | undefined;
  #isOver = false;

  constructor(output: Output, { faults, isLive }: Disturbance) {
    this.#output = output;
    this.#faults = faults;
    this.#isLive = isLive;
  }

  begin(): void {
    this.#stopIfDue();
  }

  write(bytes: string): void {
    const lines = (this.#rest + bytes).split('\n');
    this.#rest = lines.pop()!;
    const delay = faultOf(this.#faults, 'delay-events');
    for (const line of lines)
      if (delay === undefined) this.#inOrder(line);
      else setTimeout(() => this.#inOrder(line), delay.ms).unref();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#output.end();
  }

  #inOrder(line: string): void {
    const isBookmark = line.startsWith('{"type":"BOOKMARK"');
    if (isBookmark) this.#isLive = true;
    const swaps = faultOf(this.#faults, 'swap-events') !== undefined;
    if (!swaps || !this.#isLive || isBookmark) return this.#send(line);
    const held = this.#held;
    this.#held = held === undefined ? line : undefined;
    if (held === undefined) return;
    this.#send(line);
    this.#send(held);
  }

  #send(given: string): void {
    if (this.#isOver) return;
    const line = `${withReplacedObjects(given, this.#faults)}\n`;
    const cut = faultOf(this.#faults, 'cut-in-line');
    if (cut !== undefined && this.#sent >= (cut.events ?? 0)) {
      this.#output.write(firstHalf(line));
      return this.#cut();
    }
    this.#output.write(faultOf(this.#faults, 'repeat-events') === undefined ? line : line + line);
    this.#sent += 1;
    this.#stopIfDue();
  }

  #stopIfDue(): void {
    const end = faultOf(this.#faults, 'end-after');
    const cut = faultOf(this.#faults, 'cut-after');
    if (end !== undefined && this.#sent >= end.events) this.end();
    if (cut !== undefined && this.#sent >= cut.events) this.#cut();
  }

  #cut(): void {
    this.#isOver = true;
    this.#output.cut();
  }
}

/** Returns the JSON of a response or watch event, in which the faults have replaced the objects. */
function withReplacedObjects(bytes: string, faults: readonly Fault[]): string {
  const fault = faultOf(faults, 'replace-objects');
  if (fault === undefined) return bytes;
  const { by } = fault;
  const value = JSON.parse(Buffer.from(bytes, 'latin1').toString());
  const isStatus = value.kind === 'Status' || value.type === 'BOOKMARK' || value.type === 'ERROR';
  if (isStatus) return bytes;
  const replaced =
    value.type !== undefined && value.object !== undefined
      ? { ...value, object: by(value.object) }
      : Array.isArray(value.items)
        ? { ...value, items: value.items.map(by) }
        : by(value);
  return Buffer.from(JSON.stringify(replaced)).toString('latin1');
}

function faultOf<K extends Fault['kind']>(faults: readonly Fault[], kind: K): Extract<Fault, { kind: K }> | undefined {
  return faults.find((fault): fault is Extract<Fault, { kind: K }> => fault.kind === kind);
}
