/** Measures how soon a change of an EndpointSlice takes effect, in turns with upstream's kube-proxy in nftables mode if it is given. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Bench } from './bench.ts';
import type { ChangeTimes } from './service-rules-host.ts';
import { quantile, type Row } from './tables.ts';
import { inTurns } from './turns.ts';

const TURNS = { rounds: 200, settleMs: 50 };
const GOALS: Row['goals'] = { podwright: { limit: 20 } };

/** Upstream is measured if PODWRIGHT_KUBERNETES_BIN is set. */
export async function measureServiceRules({ sides }: Pick<Bench, 'sides'>): Promise<Row[]> {
  const { PODWRIGHT_KUBERNETES_BIN: directory = '' } = process.env;
  const start = async (...args: string[]) => {
    const host = startHost(args);
    sides.push({ stop: () => end(host) });
    await answerOf(host);
    return host;
  };
  const upstream = directory === '' ? undefined : await start(join(directory, 'kube-proxy'));
  const ours = await start();
  const turns: Record<string, () => Promise<ChangeTimes>> = { podwright: () => change(ours) };
  if (upstream !== undefined) turns.containerd = () => change(upstream);
  type Sides = { podwright: ChangeTimes[]; containerd?: ChangeTimes[] };
  const { podwright, containerd } = (await inTurns(TURNS, turns)) as Sides;
  for (const host of [ours, upstream]) if (host !== undefined) await end(host);
  const rows = (what: string, of: (times: ChangeTimes) => number): Row[] => {
    const samples = { podwright: podwright.map(of), ...(containerd && { containerd: containerd.map(of) }) };
    const last = Object.entries(samples).map(([side, times]) => [side, [quantile(times, 0.99)]]);
    return [
      { what, ...samples, goals: GOALS },
      { what: `${what}, p99`, ...(Object.fromEntries(last) as typeof samples), goals: GOALS, inShort: false },
    ];
  };
  return [
    ...rows('one EndpointSlice changed → rules in the kernel', ({ toKernelMs }) => toKernelMs),
    ...rows(
      'one EndpointSlice changed → a connection reaches the new endpoint',
      ({ toConnectionMs }) => toConnectionMs,
    ),
  ];
}

function startHost(args: string[]): ChildProcess {
  const script = join(import.meta.dirname, 'service-rules-host.ts');
  return spawn('unshare', ['--net', process.execPath, script, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

async function change(host: ChildProcess): Promise<ChangeTimes> {
  host.send('change');
  return (await answerOf(host)) as ChangeTimes;
}

/** Returns the next message of a host. Throws if it ends instead. */
async function answerOf(host: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const exit = once(host, 'exit', { signal: ended.signal }).then(() => {
    throw new Error('the simulated host ended');
  });
  try {
    const [answer] = await Promise.race([once(host, 'message', { signal: ended.signal }), exit]);
    return answer;
  } finally {
    exit.catch(() => undefined);
    ended.abort();
  }
}

async function end(host: ChildProcess): Promise<void> {
  if (host.exitCode !== null || host.signalCode !== null) return;
  const ended = once(host, 'exit');
  if (host.connected) host.disconnect();
  await ended;
}
