/** A full node with most of its pods crashing repeatedly: how soon the pod of a new manifest runs, and whether memory grows. */
import { sleep } from '@podwright/base';
import type { Bench } from './bench.ts';
import { type Sides, withKubelets } from './kubelet-sides.ts';
import { removeManifests, runManifests } from './kubelets.ts';
import { memoryOf } from './processes.ts';
import type { Goal, Row, Table } from './tables.ts';

const CALM = 24;
const CRASHING = 64;
/**
 * Number of new pods, added one after another without removing earlier ones. It has to be small because upstream's kubelet allows only 110
 * pods in total.
 */
const NEW_PODS = 20;
const EVERY_MS = 2000;

type Samples = Pick<Row, keyof Sides>;

/** Measures the kubelets with most of their pods crashing. The table's first column is empty if there is no upstream kubelet. */
export function measureCrashes(bench: Bench): Promise<Table> {
  return withKubelets(bench, { name: 'crashes', indices: [14, 15, 16] }, async (all) => ({
    title: `${CRASHING} of ${CALM + CRASHING} pods crash`,
    rows: await measure(all),
  }));
}

/** Measures the kubelets one after another, because crashes on one would take CPU time from the others. */
async function measure(all: Sides): Promise<Row[]> {
  const samples = (): Samples => ({ podwright: [] });
  const [took, slowest, before, after] = [samples(), samples(), samples(), samples()];
  for (const name of Object.keys(all) as (keyof Sides)[]) {
    const side = all[name];
    await runManifests(side, CALM);
    await runManifests(side, CRASHING, { script: 'exit 1' });
    before[name] = [memoryOf(side.pid).rss];
    const tookMs: number[] = [];
    for (let pod = 0; pod < NEW_PODS; pod++) {
      tookMs.push(await runManifests(side, 1));
      await sleep(EVERY_MS);
    }
    took[name] = tookMs;
    slowest[name] = [Math.max(...tookMs)];
    after[name] = [memoryOf(side.pid).rss];
    await removeManifests(side);
  }
  const [goal, whose]: [Goal, string] = [{ limit: 1000 }, "the kubelet's process"]; // in `podwright node` it includes the runtime
  const goals: Row['goals'] = { podwright: goal, matched: goal };
  return [
    { what: 'one more manifest written → its process runs', ...took, goals },
    { what: 'the slowest of them', ...slowest, goals },
    { what: `${whose} (with our runtime the node's) before these (RSS)`, unit: 'MiB', ...before },
    { what: `${whose} after them`, unit: 'MiB', ...after },
  ];
}
