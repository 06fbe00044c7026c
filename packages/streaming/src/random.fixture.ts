/** Returns a generator of numbers from 0 up to, but not including, `below`. The same seed yields the same numbers (mulberry32). */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export function randomBytes(random: (below: number) => number, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random(256)));
}

export function* randomPieces(random: (below: number) => number, bytes: Buffer, longest = 20): Generator<Buffer> {
  for (let offset = 0; offset < bytes.length; ) {
    const end = offset + 1 + random(longest);
    yield bytes.subarray(offset, end);
    offset = end;
  }
}
