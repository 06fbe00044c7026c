/** Standard functions (CEL specification, "Functions"). */

import { textOf } from '../values/texts.ts';
import { fieldsOf, parseDuration, parseTimestamp, type TimeFields, timestampOf } from '../values/times.ts';
import {
  CelError,
  type CelList,
  type CelMap,
  Duration,
  noOverload,
  type Timestamp,
  TypeValue,
  typeName,
  Uint,
  type Value,
} from '../values/values.ts';
import { int, uint } from './operators.ts';
import {
  type Evaluation,
  type FunctionTable,
  type Implementation,
  overload,
  sizeOf,
  traversal,
  traversalOf,
} from './overload.ts';
import { indexOfText } from './text-search.ts';

const cannotConvert = (from: string, to: string): CelError =>
  new CelError(`type conversion error from '${from}' to '${to}'`);

const MAX_NUMBER_LENGTH = 1000;

const containsCost = ([text, part]: readonly Value[]): number => traversal(sizeOf(text!)) * traversal(sizeOf(part!));

const SIZED = ['string', 'bytes', 'list(A)', 'map(A, B)'];

const size: Implementation = (value: string | Uint8Array | CelList | CelMap, { characters }: Evaluation) =>
  BigInt(typeof value === 'string' ? characters(value) : value instanceof Uint8Array ? value.length : value.size);

/** Returns the standard functions: sizes, conversions, string tests, and fields of timestamps and durations. */
export function standardFunctions(): FunctionTable {
  return {
    size: SIZED.flatMap((type) => [overload(`(${type}) -> int`, size), overload(`${type}.() -> int`, size)]),
    contains: [
      overload('string.(string) -> bool', (text: string, part: string) => indexOfText(text, part) >= 0, containsCost),
    ],
    endsWith: [overload('string.(string) -> bool', (text: string, end: string) => text.endsWith(end), traversalOf())],
    startsWith: [
      overload('string.(string) -> bool', (text: string, start: string) => text.startsWith(start), traversalOf()),
    ],
    ...CONVERSIONS,
    ...timeFunctions(),
  };
}

const same = (value: Value): Value => value;

const CONVERSIONS: FunctionTable = {
  type: [overload('(A) -> type(A)', (value: Value) => new TypeValue(typeName(value)))],
  dyn: [overload('(A) -> dyn', same)],
  bool: [
    overload('(bool) -> bool', same),
    overload('(string) -> bool', (text: string) => {
      if (/^(?:1|t|T|TRUE|true|True)$/.test(text)) return true;
      if (/^(?:0|f|F|FALSE|false|False)$/.test(text)) return false;
      throw cannotConvert('string', 'bool');
    }),
  ],
  bytes: [
    overload('(bytes) -> bytes', same),
    overload('(string) -> bytes', (text: string) => Buffer.from(text), traversalOf()),
  ],
  double: [
    overload('(double) -> double', same),
    overload('(int) -> double', (value: bigint) => Number(value)),
    overload('(string) -> double', doubleOf),
    overload('(uint) -> double', ({ value }: Uint) => Number(value)),
  ],
  duration: [
    overload('(duration) -> duration', same),
    overload('(int) -> duration', (value: bigint) => new Duration(value)),
    overload('(string) -> duration', (text: string) => {
      const duration = parseDuration(text);
      if (duration === undefined) throw cannotConvert('string', 'google.protobuf.Duration');
      return duration;
    }),
  ],
  int: [
    overload('(int) -> int', same),
    overload('(double) -> int', (value: number) => integerOf(value, int, 'integer overflow')),
    overload('(duration) -> int', ({ nanoseconds }: Duration) => nanoseconds),
    overload('(string) -> int', (text: string) => {
      if (text.length > MAX_NUMBER_LENGTH || !/^[+-]?\d+$/.test(text)) throw cannotConvert('string', 'int');
      const value = BigInt(text.replace(/^\+/, ''));
      if (value !== BigInt.asIntN(64, value)) throw cannotConvert('string', 'int');
      return value;
    }),
    overload('(timestamp) -> int', ({ nanoseconds }: Timestamp) => {
      const seconds = nanoseconds / 1_000_000_000n;
      return nanoseconds < 0n && nanoseconds % 1_000_000_000n !== 0n ? seconds - 1n : seconds;
    }),
    overload('(uint) -> int', ({ value }: Uint) => int(value)),
  ],
  string: [
    ...['string', 'bool', 'bytes', 'double', 'duration', 'int', 'timestamp', 'uint'].map((type) =>
      overload(
        `(${type}) -> string`,
        (value: Value) => {
          const text = textOf(value);
          if (text === undefined) throw noOverload();
          return text;
        },
        type === 'bytes' ? traversalOf() : undefined,
      ),
    ),
  ],
  timestamp: [
    overload('(timestamp) -> timestamp', same),
    overload('(int) -> timestamp', (seconds: bigint) => timestampOf(seconds * 1_000_000_000n)),
    overload('(string) -> timestamp', (text: string) => {
      const timestamp = parseTimestamp(text);
      if (timestamp === undefined) throw cannotConvert('string', 'google.protobuf.Timestamp');
      return timestamp;
    }),
  ],
  uint: [
    overload('(uint) -> uint', same),
    overload('(double) -> uint', (value: number) => integerOf(value, uint, 'unsigned integer overflow')),
    overload('(int) -> uint', (value: bigint) => uint(value)),
    overload('(string) -> uint', (text: string) => {
      if (text.length > MAX_NUMBER_LENGTH || !/^\d+$/.test(text)) throw cannotConvert('string', 'uint');
      const value = BigInt(text);
      if (value !== BigInt.asUintN(64, value)) throw cannotConvert('string', 'uint');
      return new Uint(value);
    }),
  ],
};

function doubleOf(text: string): number {
  const special = { nan: Number.NaN, inf: Infinity, infinity: Infinity }[text.replace(/^[+-]/, '').toLowerCase()];
  if (special !== undefined) return text.startsWith('-') ? -special : special;
  const isNumber = text.length <= MAX_NUMBER_LENGTH && /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text);
  const value = isNumber ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw cannotConvert('string', 'double');
  return value;
}

function integerOf<Result>(value: number, convert: (value: bigint) => Result, problem: string): Result {
  if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 64) throw new CelError(problem);
  if (value === 2 ** 63 && convert === (int as unknown)) throw new CelError(problem);
  return convert(BigInt(Math.trunc(value)));
}

const TIME_FIELDS: Readonly<Record<string, (fields: TimeFields) => number>> = {
  getFullYear: ({ year }) => year,
  getMonth: ({ month }) => month,
  getDayOfYear: ({ dayOfYear }) => dayOfYear,
  getDayOfMonth: ({ day }) => day - 1,
  getDate: ({ day }) => day,
  getDayOfWeek: ({ dayOfWeek }) => dayOfWeek,
  getHours: ({ hours }) => hours,
  getMinutes: ({ minutes }) => minutes,
  getSeconds: ({ seconds }) => seconds,
  getMilliseconds: ({ milliseconds }) => milliseconds,
};

/** Units of durations, in nanoseconds. */
const DURATION_UNITS: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

function timeFunctions(): FunctionTable {
  return Object.fromEntries(
    Object.entries(TIME_FIELDS).map(([name, read]) => {
      const unit = DURATION_UNITS[name];
      const ofTimestamp = [
        overload('timestamp.() -> int', (time: Timestamp) => BigInt(read(fieldsOf(time)))),
        overload('timestamp.(string) -> int', (time: Timestamp, zone: string, work: Evaluation) => {
          work.spend(1000);
          return BigInt(read(fieldsOf(time, zone)));
        }),
      ];
      if (unit === undefined) return [name, ofTimestamp];
      return [
        name,
        [...ofTimestamp, overload('duration.() -> int', ({ nanoseconds }: Duration) => nanoseconds / unit)],
      ];
    }),
  );
}
