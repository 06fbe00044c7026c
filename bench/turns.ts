import { sleep } from '@podwright/base';

/**
 * Runs each of `turns` once to warm up and then `rounds` times, one after the other; each round starts with another one. After each
 * turn it waits `settleMs` for deferred work of the kernel, such as removing links and writing back pages.
 */
export async function inTurns<Name extends string, T>(
  { rounds, settleMs }: { rounds: number; settleMs: number },
  turns: Record<Name, () => Promise<T>>,
): Promise<Record<Name, T[]>> {
  const names = Object.keys(turns) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, T[]>;
  for (let round = 0; round <= rounds; round++) {
    for (const index of names.keys()) {
      const name = names[(index + round) % names.length]!;
      const sample = await turns[name]();
      if (round > 0) samples[name].push(sample);
      await sleep(settleMs);
    }
  }
  return samples;
}
