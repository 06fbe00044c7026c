import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { sleep } from '@podwright/base';
import type { Bench } from '../bench.ts';
import { type BenchNode, removeManifests, runManifests, startNode } from '../manifests.ts';
import type { PodwrightSetup } from '../sides.ts';
import { digits, markdown, median } from '../tables.ts';
import { type KernelEvent, KernelTrace } from './kernel-trace.ts';

const ROUNDS = 10;
/** Pause between starting and removing a pod, and before the next pod. */
const PAUSE_MS = 300;

/**
 * Breakdown of a time span, in ms. Time with simultaneous activities is attributed to only one of them, with the precedence given in the
 * report.
 */
type Parts = Record<'own' | 'systemCalls' | 'programs' | 'noProcessor' | 'waiting', number> & {
  byProgram: Map<string, number>;
};

/** Returns a report of what takes time while a pod starts (from writing its manifest until its process runs) and while it is removed. */
export async function whereTimeGoes(bench: Bench): Promise<string> {
  const setups = [
    ['by default', { name: 'time', setup: 'default', index: 7 }],
    ['same CNI and OCI runtime', { name: 'time-matched', setup: 'matched', index: 8 }],
  ] as const;
  const rows = [];
  for (const [label, setup] of setups) rows.push(...(await rowsOf(bench, label, setup)));
  const head = ['ms', 'programs', 'system calls', 'JavaScript', 'no processor', 'waiting', 'all', 'which programs'];
  return `### Where the time of a pod goes, medians of ${ROUNDS}

${markdown([head, ...rows])}
Each moment counts once, for the first activity of this list: the node's main thread (system calls or JavaScript); programs that
were started for the pod; system calls in the node's thread pool; no processor (one of these threads is runnable); waiting.
`;
}

async function rowsOf(bench: Bench, label: string, setup: Omit<PodwrightSetup, 'command'>): Promise<string[][]> {
  const node = await startNode(bench, setup);
  const starts: Parts[] = [];
  const ends: Parts[] = [];
  try {
    using trace = await KernelTrace.open();
    for (let round = 0; round <= ROUNDS; round++) {
      const [start, end] = await traceOnePod(node, trace);
      if (round > 0) {
        starts.push(start);
        ends.push(end);
      }
    }
  } finally {
    await node.stop();
  }
  return [row(`manifest written → its process runs, ${label}`, starts), row(`manifest removed → gone, ${label}`, ends)];
}

async function traceOnePod(node: BenchNode, trace: KernelTrace): Promise<[start: Parts, end: Parts]> {
  const pool = threadsOf(node.pid).filter((thread) => nameOf(node.pid, thread).startsWith('libuv'));
  trace.start(node.pid);
  const writtenMs = monotonicMs();
  const written = await runManifests(node, 1);
  await sleep(PAUSE_MS);
  const removedMs = monotonicMs();
  await removeManifests(node, written);
  const goneMs = monotonicMs();
  const events = trace.stop();
  await sleep(PAUSE_MS);
  const runs = events.findLast(({ name, fields }) => name === 'sched_process_exec' && fields.includes('/sleep '));
  if (runs === undefined) throw new Error("the kernel's trace has no start of the pod's process");
  return divide(events, { node: node.pid, pool }, [
    [writtenMs, runs.atMs],
    [removedMs, goneMs],
  ]) as [Parts, Parts];
}

const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6;
const threadsOf = (pid: number) => readdirSync(`/proc/${pid}/task`).map(Number);
const nameOf = (pid: number, thread: number) => readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').trim();

type Threads = { node: number; pool: number[] };

function divide(events: KernelEvent[], threads: Threads, spans: [fromMs: number, toMs: number][]): Parts[] {
  const parts: Parts[] = spans.map(() => ({
    ...{ own: 0, systemCalls: 0, programs: 0, noProcessor: 0, waiting: 0 },
    byProgram: new Map(),
  }));
  const activity = new Activity(threads);
  let sinceMs = events[0]?.atMs ?? 0;
  for (const event of events) {
    for (const [index, [fromMs, toMs]] of spans.entries()) {
      const ms = Math.min(event.atMs, toMs) - Math.max(sinceMs, fromMs);
      if (ms > 0) activity.count(ms, parts[index]!);
    }
    activity.follow(event);
    sinceMs = event.atMs;
  }
  return parts;
}

/** State of a thread: `ready` is waiting for a processor, `blocked` is in uninterruptible sleep. */
type ThreadState = 'running' | 'ready' | 'blocked' | 'asleep';

/** Tracks the states of threads. A thread without events so far counts as asleep. */
class Activity {
  readonly #threads: Threads;
  readonly #states = new Map<number, ThreadState>();
  /** Processes started for the pod and their descendants, with the names of their programs. */
  readonly #programs = new Map<number, string>();
  #main: 'own' | 'systemCalls' = 'systemCalls';

  constructor(threads: Threads) {
    this.#threads = threads;
  }

  count(ms: number, parts: Parts): void {
    const { node, pool } = this.#threads;
    const busy = [...this.#programs.keys()].filter((pid) => this.#isBusy(pid));
    if (this.#isBusy(node)) parts[this.#main] += ms;
    else if (busy.length > 0) {
      parts.programs += ms;
      for (const pid of busy) {
        const name = this.#programs.get(pid)!;
        parts.byProgram.set(name, (parts.byProgram.get(name) ?? 0) + ms / busy.length);
      }
    } else if (pool.some((thread) => this.#isBusy(thread))) parts.systemCalls += ms;
    else if ([node, ...pool, ...this.#programs.keys()].some((thread) => this.#states.get(thread) === 'ready'))
      parts.noProcessor += ms;
    else parts.waiting += ms;
  }

  follow({ name, thread, fields }: KernelEvent): void {
    const field = (key: string) => new RegExp(`(?:^| )${key}=(\\S+)`).exec(fields)?.[1] ?? '';
    const pid = Number(field('pid'));
    if (name === 'sys_enter') this.#main = 'systemCalls';
    else if (name === 'sys_exit') this.#main = 'own';
    else if (name === 'sched_process_fork') this.#fork(pid, Number(field('child_pid')));
    else if (name === 'sched_process_exec') this.#exec(pid, basename(field('filename')));
    else if (name === 'sched_process_exit') this.#programs.delete(thread);
    else if (name === 'sched_wakeup') this.#states.set(pid, 'ready');
    else if (name === 'sched_switch') {
      this.#states.set(Number(field('prev_pid')), stateOf(field('prev_state')));
      this.#states.set(Number(field('next_pid')), 'running');
    }
  }

  #isBusy(thread: number): boolean {
    const state = this.#states.get(thread);
    return state === 'running' || state === 'blocked';
  }

  #fork(parent: number, child: number): void {
    const name = parent === this.#threads.node ? 'node' : this.#programs.get(parent);
    if (name !== undefined) this.#programs.set(child, name);
  }

  /**
   * Records a program that a process executes. If a process re-executes its own program through a file descriptor or /proc/self/exe, it
   * keeps its name.
   */
  #exec(pid: number, name: string): void {
    if (this.#programs.has(pid) && !/^(\d+|exe)$/.test(name)) this.#programs.set(pid, name);
  }
}

/**
 * Returns the thread state for a letter of proc_pid_stat(5), `state`. The node's thread is in state S while it sleeps in epoll_wait; in
 * state D it is blocked in a system call.
 */
function stateOf(letter: string): ThreadState {
  if (letter.startsWith('R')) return 'ready';
  return /^[DI]/.test(letter) ? 'blocked' : 'asleep';
}

function row(what: string, parts: Parts[]): string[] {
  const of = (pick: (parts: Parts) => number) => median(parts.map(pick));
  const names = [...new Set(parts.flatMap(({ byProgram }) => [...byProgram.keys()]))];
  const programs = names
    .map((name) => ({ name, ms: of(({ byProgram }) => byProgram.get(name) ?? 0) }))
    .filter(({ ms }) => ms >= 0.1)
    .toSorted((a, b) => b.ms - a.ms)
    .map(({ name, ms }) => `${name} ${digits(ms)}`);
  const figures = [
    of((one) => one.programs),
    of((one) => one.systemCalls),
    of((one) => one.own),
    of((one) => one.noProcessor),
    of((one) => one.waiting),
    of((one) => one.programs + one.systemCalls + one.own + one.noProcessor + one.waiting),
  ];
  return [what, ...figures.map(digits), programs.join(', ')];
}
