/**
 * Fuzzing for decoder tests: seeded, so that failures can be reproduced, and bounded. The environment variables TEST_SEED and
 * TEST_FUZZ_ROUNDS override the default seed and number of rounds.
 */

/** Returns an integer from 0 up to but excluding `below`. */
export type Random = (below: number) => number;

export type FuzzOptions = {
  /** Valid inputs to mutate. */
  samples: Buffer[];
  /** Number of inputs to try, unless TEST_FUZZ_ROUNDS is set. */
  rounds: number;
};

/** Maximum time per input. A backtracking decoder would take minutes. */
const SLOW_MS = 5000;

/**
 * Calls `check` with inputs that are each mutated in one to eight places. An error from `check` is rethrown with the seed, round and input.
 */
export async function fuzz(
  { samples, rounds }: FuzzOptions,
  check: (input: Buffer, random: Random) => void | Promise<void>,
): Promise<void> {
  const seed = Number(process.env.TEST_SEED ?? 1);
  const last = Number(process.env.TEST_FUZZ_ROUNDS ?? rounds);
  for (let round = 0; round < last; round++) {
    const random = seededRandom(seed * 1_000_003 + round);
    const input = damage(random, samples);
    const startedMs = performance.now();
    try {
      await check(input, random);
      const tookMs = performance.now() - startedMs;
      if (tookMs > SLOW_MS) throw new Error(`it took ${Math.round(tookMs)} ms`);
    } catch (error) {
      const shown = `${input.subarray(0, 4096).toString('hex')}${input.length > 4096 ? '…' : ''}`;
      throw new Error(`TEST_SEED=${seed}, round ${round}: ${String(error)}; input: ${shown}`, { cause: error });
    }
  }
}

/** A deterministic generator (mulberry32): the same seed yields the same numbers. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export function* pieces(random: Random, bytes: Buffer, longest = 64): Generator<Buffer> {
  for (let offset = 0; offset < bytes.length; ) {
    const end = offset + 1 + random(longest);
    yield bytes.subarray(offset, end);
    offset = end;
  }
}

function damage(random: Random, samples: Buffer[]): Buffer {
  let bytes: Buffer = Buffer.from(samples[random(samples.length)]!);
  for (let times = 1 + random(8); times > 0; times--) {
    const change = CHANGES[random(CHANGES.length)]!;
    bytes = change({ bytes, at: random(bytes.length + 1), random, samples });
  }
  return bytes;
}

type Change = { bytes: Buffer; at: number; random: Random; samples: Buffer[] };

/** Bytes and 32-bit words that are likely to break a decoder: boundary values, signs, separators and terminators. */
const ODD_BYTES = [0, 1, 0x7f, 0x80, 0xff, 0x20, 0x2f, 0x3a, 0x22, 0x5c];
const ODD_WORDS = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x00ff_ffff, 0x0000_ffff];

const CHANGES: ((change: Change) => Buffer)[] = [
  ({ bytes, at, random }) => put(bytes, at, Buffer.from([(bytes[at] ?? 0) ^ (1 << random(8))])),
  ({ bytes, at, random }) => put(bytes, at, Buffer.from([ODD_BYTES[random(ODD_BYTES.length)]!])),
  ({ bytes, at, random }) => put(bytes, at, word(ODD_WORDS[random(ODD_WORDS.length)]!)),
  ({ bytes, at, random }) => insert(bytes, at, Buffer.from(Array.from({ length: random(20) }, () => random(256)))),
  ({ bytes, at, random }) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random(40))]),
  ({ bytes, at, random }) => insert(bytes, at, bytes.subarray(at, at + random(200))),
  ({ bytes, at }) => bytes.subarray(0, at),
  ({ bytes, at, random, samples }) => {
    const other = samples[random(samples.length)]!;
    return Buffer.concat([bytes.subarray(0, at), other.subarray(random(other.length + 1))]);
  },
];

function put(bytes: Buffer, at: number, value: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), value, bytes.subarray(at + value.length)]);
}

function insert(bytes: Buffer, at: number, added: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at)]);
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
