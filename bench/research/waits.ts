/**
 * `node bench/research/waits.ts [PODS]`: shows in which kernel functions processes sleep while pods are started and removed one after
 * another on Podwright's runtime with default settings. Prints Markdown with the waits in ms per pod, excluding waits for other processes.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { leaveNothing } from '../leave-nothing.ts';
import { bringUp, takeDown } from '../life-cycle.ts';
import { loadImage, type Side, startPodwright } from '../sides.ts';
import { median } from '../tables.ts';
import type { Sample, SamplerInput } from './wait-sampler.ts';

const PHASES = ['start', 'exec', 'stop + remove'];
/** Minimum time in ms per pod for a wait to be listed. */
const LEAST_MS = 0.3;

async function onePod(runtime: Side, phase: Int32Array): Promise<number[]> {
  const times: number[] = [];
  const inPhase = async <T>(index: number, work: () => Promise<T>): Promise<T> => {
    const begin = performance.now();
    Atomics.store(phase, 0, index);
    const result = await work();
    Atomics.store(phase, 0, -1);
    times.push(performance.now() - begin);
    return result;
  };
  const { pod } = await inPhase(0, () => bringUp(runtime));
  const command = { containerId: pod.containerId, cmd: ['true'], timeout: 10n };
  await inPhase(1, () => runtime.cri.runtime.execSync(command));
  await inPhase(2, () => takeDown(runtime, pod));
  return times;
}

function table(samples: Sample[], times: number[][]): string {
  const ofPhase = (name: string, phase: number) => {
    const waits = samples
      .filter((sample) => sample.phase === phase)
      .map((sample) => ({ ...sample, ms: sample.ms / times.length }))
      .filter(({ ms }) => ms >= LEAST_MS)
      .sort((left, right) => right.ms - left.ms);
    const all = median(times.map((one) => one[phase]!)).toFixed(1);
    return [
      `| **${name}** | median of the calls | ${all} |`,
      ...waits.map(({ process, wait, ms }) => `| ${process} | ${wait} | ${ms.toFixed(1)} |`),
    ];
  };
  return ['| process | wait | ms a pod |', '| --- | --- | --- |', ...PHASES.flatMap(ofPhase)].join('\n');
}

async function main(pods: number): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'podwright-waits-'));
  const settings = 'ready_sandboxes = 0'; // sandboxes that are created in advance would hide the work of RunPodSandbox
  const runtime = await startPodwright(scratch, {
    name: 'pw',
    command: 'runtime',
    setup: 'default',
    index: 1,
    settings,
  });
  try {
    await loadImage(runtime);
    const phase = new Int32Array(new SharedArrayBuffer(4)).fill(-1);
    await onePod(runtime, phase); // without the one-time costs of the first pod
    const workerData: SamplerInput = { runtime: runtime.pid, marker: scratch, phase };
    const sampler = new Worker(new URL('./wait-sampler.ts', import.meta.url), { workerData });
    const answer = new Promise<Sample[]>((resolve, reject) => {
      sampler.once('message', resolve);
      sampler.once('error', reject);
    });
    const times: number[][] = [];
    for (let pod = 0; pod < pods; pod++) times.push(await onePod(runtime, phase));
    sampler.postMessage('end');
    console.log(table(await answer, times));
  } finally {
    await runtime.stop();
    await leaveNothing(scratch);
  }
}

await main(Number(process.argv[2] ?? 20));
