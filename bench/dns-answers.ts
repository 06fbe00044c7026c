/** Measures our DNS server: A queries for Services at a fixed rate, and as many as it answers. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DAEMON_FLAGS } from '../packages/cli/src/daemon/daemon-flags.ts';
import type { Bench } from './bench.ts';
import type { LoadReport, LoadRequest } from './dns-load.ts';
import { exactCpuTimeMs } from './processes.ts';
import type { Row } from './tables.ts';

const RATE = 20_000;
const ROUNDS = 5;
const SECONDS = 5;

type Measured = LoadReport & { cpuPercent: number };

export async function measureDnsAnswers({ sides }: Pick<Bench, 'sides'>): Promise<Row[]> {
  const start = (file: string, execArgv: string[] = []) => {
    const child = fork(join(import.meta.dirname, file), { execArgv });
    sides.push({ stop: async () => void child.kill() });
    return child;
  };
  const [server, load] = [start('dns-server.ts', DAEMON_FLAGS), start('dns-load.ts')];
  const [port] = (await once(server, 'message')) as [number];
  const [steady, most]: [Measured[], Measured[]] = [[], []];
  for (let round = 0; round <= ROUNDS; round++) {
    const [atRate, atMost] = [
      await measure({ server, load }, { port, seconds: SECONDS, rate: RATE }),
      await measure({ server, load }, { port, seconds: SECONDS }),
    ];
    if (round === 0) continue; // the warm-up
    steady.push(atRate);
    most.push(atMost);
  }
  for (const child of [server, load]) child.disconnect();
  return rowsOf(steady, most);
}

function rowsOf(steady: Measured[], most: Measured[]): Row[] {
  const at = `${RATE.toLocaleString('en')} DNS queries a second`;
  const row = (what: string, runs: Measured[], of: (run: Measured) => number) => ({ what, podwright: runs.map(of) });
  const limited = (limit: number): Row['goals'] => ({ podwright: { limit } });
  return [
    { ...row(`${at}: without an answer`, steady, unanswered), unit: '%', goals: limited(0) },
    { ...row(`${at}: median latency`, steady, ({ p50Ms }) => p50Ms) },
    { ...row(`${at}: p99 latency`, steady, ({ p99Ms }) => p99Ms), goals: limited(2) },
    { ...row(`${at}: CPU of a core`, steady, ({ cpuPercent }) => cpuPercent), unit: '%', goals: limited(100) },
    {
      ...row('DNS answers a second at most', most, ({ answered, seconds }) => answered / seconds),
      unit: '/s',
      goals: { podwright: { least: RATE } },
    },
    { ...row('CPU of a core with them', most, ({ cpuPercent }) => cpuPercent), unit: '%' },
  ];
}

const unanswered = ({ sent, answered }: Measured): number => (100 * (sent - answered)) / sent;

async function measure(
  { server, load }: Record<'server' | 'load', ChildProcess>,
  request: LoadRequest,
): Promise<Measured> {
  const beforeMs = exactCpuTimeMs(server.pid!);
  load.send(request);
  const [report] = (await once(load, 'message')) as [LoadReport];
  return { ...report, cpuPercent: (exactCpuTimeMs(server.pid!) - beforeMs) / (10 * report.seconds) };
}
