/**
 * Measures an open page of the dashboard on a busy node: `node bench/research/dashboard.ts [MINUTES]` (default 60). The node has 500 pods,
 * and 100 changes of pods and events a second. Prints a row of Markdown per minute. The heap is measured after a garbage collection.
 */

import { sleep } from '@podwright/base';
import { createKubeClient, readKubeconfig } from '@podwright/kube-client';
import type { CDPSession, Page } from 'playwright-core';
import { OpenedDashboard, startBrowser } from '../../tests/dashboard/opened-dashboard.fixture.ts';
import { NodePlace } from '../../tests/pods/node.fixture.ts';
import { cpuTimeMs, memoryOf } from '../processes.ts';
import { PROGRAM } from '../sides.ts';
import { DashboardLoad } from './dashboard-load.ts';

const PODS = 500;
const CHANGES_PER_SECOND = 100;
const SUBNET = '10.172.207.0/24';
const MINUTE_MS = 60_000;
/** How long the node is measured without a page. */
const WITHOUT_PAGE_MS = 30_000;
/** How long frames are counted. */
const FRAMES_MS = 5000;

/** Processes, whose memory and CPU time since the previous look are reported. */
class Processes {
  readonly #pids: number[];
  #looked: { atMs: number; cpuMs: number[] };

  constructor(pids: number[]) {
    this.#pids = pids;
    this.#looked = this.#look();
  }

  /** Returns for each process its RSS and its share of a core, as cells of a table. */
  cells(): string[] {
    const before = this.#looked;
    this.#looked = this.#look();
    const { atMs, cpuMs } = this.#looked;
    return this.#pids.flatMap((pid, index) => [
      `${memoryOf(pid).rss.toFixed(0)} MiB`,
      `${((100 * (cpuMs[index]! - before.cpuMs[index]!)) / (atMs - before.atMs)).toFixed(1)} %`,
    ]);
  }

  #look() {
    return { atMs: performance.now(), cpuMs: this.#pids.map(cpuTimeMs) };
  }
}

/** A script for the page that records when it first shows a pod, in milliseconds since the start of the navigation. */
const NOTE_SHOWN = `{
  const look = () => {
    if (document.querySelector('[data-row]') === null) requestAnimationFrame(look);
    else window.shownMs = performance.now();
  };
  requestAnimationFrame(look);
}`;

/** A script for the page that counts its frames. */
const COUNT_FRAMES = `new Promise((resolve) => {
  const startMs = performance.now();
  let count = 0;
  const frame = () => {
    count++;
    const tookMs = performance.now() - startMs;
    if (tookMs < ${FRAMES_MS}) requestAnimationFrame(frame);
    else resolve(count / tookMs * 1000);
  };
  requestAnimationFrame(frame);
})`;

async function pageCells(tab: Page, session: CDPSession): Promise<string[]> {
  const framesPerSecond = Number(await tab.evaluate(COUNT_FRAMES));
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const value = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
  const heap = `${(value('JSHeapUsedSize') / 1e6).toFixed(1)} MB`;
  return [heap, String(value('Nodes')), String(value('JSEventListeners')), framesPerSecond.toFixed(0)];
}

const TITLES = ['minute', 'heap', 'DOM nodes', 'listeners', 'frames/s', 'dashboard', 'its CPU', 'node', 'its CPU'];
const printRow = (cells: string[]) => console.log(`| ${cells.join(' | ')} |`);

/** Opens the page and measures it every minute, then closes it and measures the processes alone. */
async function measure(dashboard: OpenedDashboard, processes: Processes, minutes: number): Promise<void> {
  const browser = await startBrowser();
  try {
    const context = await browser.newContext();
    const link = await dashboard.link();
    const tab = await context.newPage();
    const session = await context.newCDPSession(tab);
    await session.send('Performance.enable');
    await tab.addInitScript(NOTE_SHOWN);
    const startMs = performance.now();
    await tab.goto(link);
    for (let minute = 1; minute <= minutes; minute++) {
      await sleep(Math.max(0, startMs + minute * MINUTE_MS - FRAMES_MS - performance.now()));
      printRow([String(minute), ...(await pageCells(tab, session)), ...processes.cells()]);
    }
    const shownMs = Number(await tab.evaluate('shownMs'));
    await context.close();
    await sleep(WITHOUT_PAGE_MS);
    processes.cells();
    await sleep(WITHOUT_PAGE_MS);
    printRow(['closed', '', '', '', '', ...processes.cells()]);
    console.log(`\nThe first pods were shown after ${shownMs.toFixed(0)} ms.`);
  } finally {
    await browser.close();
  }
}

const minutes = Number(process.argv[2] ?? 60);
const bundle = { program: PROGRAM, isExecutable: true, image: '', remove: () => undefined };
const place = new NodePlace(bundle, SUBNET, { hasApi: true });
const listen = `[api]\nenabled = true\nservice_cidr = "${place.serviceCidr}"\nlisten = "127.0.0.1:0"\n`;
place.file('api.toml', listen);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void place.remove().finally(() => process.exit(1)));
try {
  const node = await place.startDaemon();
  const kubeconfig = place.path('state/admin.kubeconfig');
  const client = createKubeClient(await readKubeconfig(kubeconfig));
  const load = new DashboardLoad(client);
  await load.create(PODS);
  load.start(CHANGES_PER_SECOND);
  const startMs = performance.now();
  const before = load.changes;
  const dashboard = await OpenedDashboard.start(place, '--kubeconfig', kubeconfig);
  const processes = new Processes([dashboard.program.child.pid!, node.child.pid!]);
  printRow(TITLES);
  printRow(TITLES.map(() => '---'));
  await sleep(WITHOUT_PAGE_MS);
  printRow(['0', '', '', '', '', ...processes.cells()]);
  await measure(dashboard, processes, minutes);
  const rate = ((load.changes - before) * 1000) / (performance.now() - startMs);
  console.log(`The API server made ${rate.toFixed(0)} changes a second.`);
  await load.stop();
  await dashboard.stop();
  client.close();
  node.child.kill('SIGTERM');
  await node.ended();
} finally {
  await place.remove();
}
