import { sleep } from '@podwright/base';

/**
 * Runs each of `turns` once as a warm-up and then `rounds` times, in rotation: each round starts with a different one. Waits `settleMs`
 * after each turn for deferred kernel work, such as removing links and writing back pages.
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
