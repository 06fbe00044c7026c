import { readdirSync, readFileSync } from 'node:fs';
import type { Bench } from './bench.ts';
import { removeManifests, runManifests, startNode } from './manifests.ts';

const ticks = (path: string) => {
  const f = readFileSync(path, 'utf8').split(') ')[1]!.split(' ');
  return [Number(f[11]) * 10, Number(f[12]) * 10];
};
const host = () =>
  readFileSync('/proc/stat', 'utf8')
    .split('\n')[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number)
    .map((x) => x * 10);
function look(pid: number) {
  const threads: Record<string, number[]> = {};
  for (const tid of readdirSync(`/proc/${pid}/task`)) {
    const name = tid === String(pid) ? 'main' : readFileSync(`/proc/${pid}/task/${tid}/comm`, 'utf8').trim();
    const [u, s] = ticks(`/proc/${pid}/task/${tid}/stat`);
    threads[name] ??= [0, 0];
    threads[name]![0]! += u!;
    threads[name]![1]! += s!;
  }
  return { threads, host: host() };
}
const diff = (a: any, b: any) => {
  const out: string[] = [];
  for (const n of Object.keys(b.threads)) {
    const x = a.threads[n] ?? [0, 0];
    const [u, s] = [b.threads[n][0] - x[0], b.threads[n][1] - x[1]];
    if (u + s > 20) out.push(`${n} ${u}u+${s}s`);
  }
  const h = b.host.map((x: number, i: number) => x - a.host[i]);
  return `${out.join(', ')}; host user ${h[0]} sys ${h[2]} idle ${h[3]} irq ${h[5] + h[6]}`;
};
export async function measureHundred(bench: Bench): Promise<string> {
  const node = await startNode(bench, { name: 'node', setup: 'default', index: 3, settings: process.env.PW_SET });
  await removeManifests(node, await runManifests(node, 20));
  const lines: string[] = [];
  for (const n of (process.env.COUNTS ?? '100,100').split(',').map(Number)) {
    const a = look(node.pid);
    const begin = performance.now();
    const w = await runManifests(node, n);
    const b = look(node.pid);
    lines.push(`${n} up ${(performance.now() - begin).toFixed(0)} ms: ${diff(a, b)}`);
    await new Promise((f) => setTimeout(f, 3000));
    const c = look(node.pid);
    const begin2 = performance.now();
    await removeManifests(node, w);
    const d = look(node.pid);
    lines.push(`${n} down ${(performance.now() - begin2).toFixed(0)} ms: ${diff(c, d)}`);
  }
  return lines.join('\n');
}
