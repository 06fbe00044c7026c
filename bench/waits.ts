/**
 * `node bench/waits.ts [PODS]`: where the processes of a pod's way sleep while pods go up and down one after the other on
 * Podwright's runtime. Prints Markdown: the waits that are no waiting for another process, in ms a pod.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { runChecked } from '@podwright/base';
import { loadSystem, unmountTree } from '@podwright/system';
import { bringUp, takeDown } from './life-cycle.ts';
import { type RuntimeUnderTest, startPodwright } from './runtimes.ts';
import { median } from './statistics.ts';
import type { Sample, SamplerInput } from './wait-sampler.ts';

const PHASES = ['start', 'exec', 'stop + remove'];
/** Waits that take less of a pod are not printed. */
const LEAST_MS = 0.3;

async function onePod(runtime: RuntimeUnderTest, logs: string, phase: Int32Array): Promise<number[]> {
  const times: number[] = [];
  const inPhase = async <T>(index: number, work: () => Promise<T>): Promise<T> => {
    const begin = performance.now();
    Atomics.store(phase, 0, index);
    const result = await work();
    Atomics.store(phase, 0, -1);
    times.push(performance.now() - begin);
    return result;
  };
  const { pod } = await inPhase(0, () => bringUp(runtime, logs));
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
  const logs = join(scratch, 'logs');
  mkdirSync(logs);
  const runtime = await startPodwright(scratch, 'runtime');
  try {
    const phase = new Int32Array(new SharedArrayBuffer(4)).fill(-1);
    await onePod(runtime, logs, phase); // what only the first one pays
    const workerData: SamplerInput = { runtime: runtime.pid, marker: scratch, phase };
    const sampler = new Worker(new URL('./wait-sampler.ts', import.meta.url), { workerData });
    const answer = new Promise<Sample[]>((resolve, reject) => {
      sampler.once('message', resolve);
      sampler.once('error', reject);
    });
    const times: number[][] = [];
    for (let pod = 0; pod < pods; pod++) times.push(await onePod(runtime, logs, phase));
    sampler.postMessage('end');
    console.log(table(await answer, times));
  } finally {
    await runtime.stop();
    await runChecked('ip', ['link', 'delete', 'pwbench1']).catch(() => undefined);
    unmountTree(loadSystem(), scratch);
    rmSync(scratch, { recursive: true, force: true });
  }
}

await main(Number(process.argv[2] ?? 20));
