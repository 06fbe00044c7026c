import type { Bench } from './bench.ts';
import type { Side } from './sides.ts';
import type { Row, Table } from './tables.ts';
import { inTurns } from './turns.ts';

const ROUNDS = 10;
/** Pause after each pull: both sides remove content in the background, which must not overlap with the next turn. */
const SETTLE_MS = 2000;

/** Measures pulling and unpacking images from a registry on loopback. */
export async function measurePull({ containerd, podwright, registry }: Bench): Promise<Table> {
  const rows: Row[] = [];
  for (const size of ['300 MB', '5 MB'] as const) {
    const image = await registry.image(size);
    const samples = await inTurns(
      { rounds: ROUNDS, settleMs: SETTLE_MS },
      { containerd: () => pull(containerd, image), podwright: () => pull(podwright, image) },
    );
    rows.push({ what: `pull and unpack of ${size}`, ...samples, goals: { podwright: { ratio: 0.8 } } });
  }
  return { title: `Pull and unpack from a registry on loopback, ${ROUNDS} times`, rows };
}

async function pull({ cri }: Side, image: string): Promise<number> {
  const begin = performance.now();
  await cri.image.pullImage({ image: { image } });
  const took = performance.now() - begin;
  await cri.image.removeImage({ image: { image } });
  return took;
}
