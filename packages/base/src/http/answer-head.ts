import type { AnswerInput, Step } from './answer-input.ts';

/** The status line and header fields of an HTTP response. */
export type AnswerHead = {
  status: number;
  /** The reason phrase of the status line. */
  reason: string;
  /** Header field values by lowercase field name, in the order received. */
  fields: Map<string, string[]>;
  framing: Framing;
};

/** How the end of a body is determined: by its length, by the last chunk, or by the server closing the connection. */
export type Framing = { until: 'length'; bytes: number } | { until: 'last-chunk' } | { until: 'close' };

/** Overhead counted per line of the response head (RFC 9113, 6.5.2, SETTINGS_MAX_HEADER_LIST_SIZE). */
const FIELD_BYTES = 32;
/** Largest Content-Length accepted by Go, which parses it as a 63-bit integer. */
const MAX_LENGTH = 2n ** 63n - 1n;
const NO_BODY: Framing = { until: 'length', bytes: 0 };
const SPACE = 0x20;
const TAB = 0x09;

/** The number of bytes left for response heads, including those of interim (1xx) responses. */
export type HeadBudget = { bytes: number };

/**
 * Reads the next response head. Returns `undefined` if the connection ends before the first byte. Errors are worded as in Go's net/http.
 */
export function* readHead(input: AnswerInput, budget: HeadBudget): Step<AnswerHead | undefined> {
  if ((yield* input.peek()) === undefined) return undefined;
  const statusLine = yield* readStatusLine(input, budget);
  const fields = yield* readFields(input, budget);
  return { status: statusLine.status, reason: statusLine.reason, fields, framing: framingOf(statusLine, fields) };
}

type StatusLine = { status: number; reason: string; isBefore11: boolean };

function* readStatusLine(input: AnswerInput, budget: HeadBudget): Step<StatusLine> {
  const line = yield* readLine(input, budget);
  const [, version, rest] = /^([^ ]*) +(.*)$/s.exec(line) ?? [];
  if (version === undefined || rest === undefined) throw malformed('malformed HTTP response', line);
  const [, status, reason = ''] = /^(\d{3})(?: (.*))?$/s.exec(rest) ?? [];
  if (status === undefined) throw malformed('malformed HTTP status code', rest.split(' ', 1)[0]);
  if (!/^HTTP\/\d\.\d$/.test(version)) throw malformed('malformed HTTP version', version);
  return { status: Number(status), reason, isBefore11: version < 'HTTP/1.1' };
}

function* readFields(input: AnswerInput, budget: HeadBudget): Step<Map<string, string[]>> {
  const fields = new Map<string, string[]>();
  if (isBlank(yield* input.peek()))
    throw malformed('malformed MIME header initial line', yield* readLine(input, budget));
  for (;;) {
    let line = trim(yield* readLine(input, budget));
    if (line === '') return fields;
    if (!line.includes(':')) throw malformed('malformed MIME header: missing colon', line);
    while (isBlank(yield* input.peek())) line += ` ${trim(yield* readLine(input, budget))}`;
    const [name, value] = fieldOf(line);
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
}

const isBlank = (byte: number | undefined) => byte === SPACE || byte === TAB;

/** Reads a line of a response head, without its CRLF or bare LF. */
function* readLine(input: AnswerInput, budget: HeadBudget): Step<string> {
  const line = yield* input.line(budget.bytes);
  if (line === undefined) throw malformed('unexpected EOF');
  budget.bytes -= Buffer.byteLength(line) + FIELD_BYTES;
  if (budget.bytes < 0) throw new Error('the head of the response is too large');
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** Splits a header field into name and value. As in Go, a name may contain spaces, and is then distinct from the name without them. */
function fieldOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  const name = line.slice(0, colon);
  const value = line.slice(colon + 1);
  if (!/^[\w!#$%&'*+.^`|~ -]+$/.test(name) || hasControlCharacter(value))
    throw malformed('malformed MIME header line', line);
  return [name.toLowerCase(), trim(value)];
}

/** Whether the text contains a control character that is not allowed in a field value. Tabs are allowed. */
export function hasControlCharacter(text: string): boolean {
  return /[\0-\x08\x0a-\x1f\x7f]/.test(text);
}

function framingOf({ status, isBefore11 }: StatusLine, fields: Map<string, string[]>): Framing {
  const encodings = isBefore11 ? undefined : fields.get('transfer-encoding');
  if (encodings !== undefined && encodings.length > 1) throw malformed('too many transfer encodings', encodings);
  const encoding = encodings?.[0];
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    throw malformed('unsupported transfer encoding:', encoding);
  const bytes = lengthOf(fields.get('content-length') ?? []);
  if ((status >= 100 && status < 200) || status === 204 || status === 304) return NO_BODY;
  if (encoding !== undefined) return { until: 'last-chunk' };
  return bytes === undefined ? { until: 'close' } : { until: 'length', bytes };
}

/** Returns the Content-Length; `undefined` if there is none. Repeated fields must all have the same value. */
function lengthOf(lengths: string[]): number | undefined {
  const [length] = lengths;
  if (length === undefined) return undefined;
  if (lengths.some((other) => other !== length))
    throw malformed('http: message cannot contain multiple Content-Length headers; got', lengths);
  if (!/^0*\d{1,19}$/.test(length) || BigInt(length) > MAX_LENGTH) throw malformed('bad Content-Length', length);
  return Number(length);
}

/** Strips leading and trailing spaces and tabs. A regular expression would take quadratic time. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function malformed(problem: string, found?: unknown): Error {
  const what = found === undefined ? problem : `${problem} ${shortened(JSON.stringify(found))}`;
  return new Error(`net/http: HTTP/1.x transport connection broken: ${what}`);
}

/** Limits the length of error messages, because the server controls the length of its lines. */
const shortened = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text);
