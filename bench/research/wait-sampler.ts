/**
 * A worker thread that samples twice per millisecond what each process of a runtime is waiting for, and adds up the times. `waits.ts`
 * starts the worker with a `SamplerInput`; on the first message, the worker responds with its `Sample`s and exits.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

/** Input of the worker thread. `phase[0]` is the number of the current phase, or -1 between phases. */
export type SamplerInput = { runtime: number; marker: string; phase: Int32Array };

/** How long a process was seen in a given wait; `wait` is `runs` while it is running or runnable. */
export type Sample = { phase: number; process: string; wait: string; ms: number };

const INTERVAL_MS = 0.5;
/** Maximum number of new processes inspected per sample, which is more than a runtime starts between samples. */
const MAX_NEW = 500;

/**
 * Kernel stack frames that do not show what a process waits for: those of sleeping itself, and those on the way from a system call to a
 * file system.
 */
const NOISE =
  /^(__)?(schedule|wait_for|do_wait|down_|rwsem|mutex_lock|vfs_|ksys_|kernfs_fop|cgroup_file_write|seq_|new_sync|do_syscall|entry_|x64_sys|do_fast|ret_from|do_sys_openat|path_openat|do_filp|link_path|walk_comp|wait_rcu_gp|usleep|hrtimer|poll_schedule|schedule_)/;
/**
 * Kernel functions in which a process waits for another process. Such waits are not counted, because the waits of the other process are
 * counted already.
 */
const FOR_OTHERS =
  /poll|epoll|futex|pipe|do_wait|fifo|unix_stream|skb_recv|ptrace|wait4|kernel_clone|vfork|nanosleep|sigsuspend|signal/;

/** Samples the processes started by a runtime, and the runtime's own threads. */
class WaitSampler {
  readonly #input: SamplerInput;
  readonly #tracked = new Map<number, string>();
  readonly #sums = new Map<string, Sample>();
  #lastPid = readNumber('/proc/sys/kernel/ns_last_pid');
  #lastAt = performance.now();

  constructor(input: SamplerInput) {
    this.#input = input;
  }

  /** Takes one sample of what the processes and threads are waiting for. */
  look(): void {
    this.#findNew();
    const now = performance.now();
    const ms = now - this.#lastAt;
    this.#lastAt = now;
    const phase = this.#input.phase[0]!;
    if (phase < 0) return;
    for (const pid of this.#tracked.keys()) {
      const stat = readStat(`/proc/${pid}`);
      if (stat === undefined || stat.state === 'Z') this.#tracked.delete(pid);
      else this.#add(phase, { process: stat.name, wait: waitOf(`/proc/${pid}`, stat.state), ms });
    }
    for (const thread of threadsOf(this.#input.runtime)) {
      const directory = `/proc/${this.#input.runtime}/task/${thread}`;
      const stat = readStat(directory);
      const name = thread === this.#input.runtime ? 'podwright' : 'podwright, threads for files';
      if (stat !== undefined) this.#add(phase, { process: name, wait: waitOf(directory, stat.state), ms });
    }
  }

  samples(): Sample[] {
    return [...this.#sums.values()];
  }

  /** Adds children of tracked processes, and orphans whose command line contains the runtime's directory. */
  #findNew(): void {
    const last = readNumber('/proc/sys/kernel/ns_last_pid');
    for (let pid = Math.max(this.#lastPid + 1, last - MAX_NEW); pid <= last; pid++) {
      const stat = readStat(`/proc/${pid}`);
      if (stat === undefined) continue;
      const isOurs = stat.parent === this.#input.runtime || this.#tracked.has(stat.parent);
      if (isOurs || (stat.parent === 1 && readText(`/proc/${pid}/cmdline`).includes(this.#input.marker)))
        this.#tracked.set(pid, stat.name);
    }
    this.#lastPid = last;
  }

  #add(phase: number, { process, wait, ms }: Omit<Sample, 'phase'>): void {
    if (wait === '') return;
    const key = `${phase} ${process} ${wait}`;
    const sum = this.#sums.get(key) ?? { phase, process, wait, ms: 0 };
    sum.ms += ms;
    this.#sums.set(key, sum);
  }
}

/**
 * Returns what a process or thread is waiting for: `runs` if it is running, '' if it waits for another process, otherwise the first and
 * last informative frames of its kernel stack.
 */
function waitOf(directory: string, state: string): string {
  if (state === 'R') return 'runs';
  const frames = readText(`${directory}/stack`)
    .split('\n')
    .map((line) => /^\[<0>\] ([\w.]+)\+/.exec(line)?.[1] ?? '')
    .filter((name) => name !== '');
  if (frames.length === 0 || FOR_OTHERS.test(frames.slice(0, 4).join(' '))) return '';
  const informative = frames.filter((name) => !NOISE.test(name));
  return [...new Set([informative[0] ?? frames[0], informative.at(-1) ?? ''])].join(' ← ');
}

function readStat(directory: string): { name: string; state: string; parent: number } | undefined {
  const found = /^\d+ \((.*)\) (\w) (\d+)/s.exec(readText(`${directory}/stat`));
  return found === null ? undefined : { name: found[1]!, state: found[2]!, parent: Number(found[3]) };
}

function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

const readNumber = (path: string) => Number(readText(path));

/** Returns the text of a file, or '' if it does not exist because the process has exited. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

if (parentPort !== null) {
  const sampler = new WaitSampler(workerData as SamplerInput);
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (receiveMessageOnPort(parentPort) === undefined) {
    sampler.look();
    Atomics.wait(pause, 0, 0, INTERVAL_MS);
  }
  parentPort.postMessage(sampler.samples());
}
