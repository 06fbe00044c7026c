/** Measures how precisely the kubelet times 500 probes per second, and their CPU time: `node bench/research/probes.ts [SECONDS]`. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ProberManager } from '../../packages/kubelet/src/prober/prober-manager.ts';

const PROBES = 500;
const SECONDS = Number(process.argv[2] ?? 20);

if (process.send === undefined) await measure();
else serve();

/** The child process: answers probes and reports each one to the parent. */
function serve(): void {
  const server = createServer((request, response) => {
    process.send!(request.url);
    response.end('ok');
  });
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
}

async function measure(): Promise<void> {
  const server = fork(import.meta.filename);
  const [port] = (await once(server, 'message')) as [number];
  const askedMs = Array.from({ length: PROBES }, (): number[] => []);
  server.on('message', (path: string) => askedMs[Number(path.slice(1))]!.push(performance.now()));
  const manager = new ProberManager({
    commands: { runInContainer: async () => ({ exitCode: 0, output: '', stderr: '' }) },
    events: { event: () => undefined },
  });
  for (let index = 0; index < PROBES; index++) watch(manager, index, port);
  const cpu = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
  const { user, system } = process.cpuUsage(cpu);
  manager.stop();
  server.kill();
  report(askedMs, (user + system) / 1e6);
}

/** Adds a container with an HTTP liveness probe that runs every second, starting at a random time within the first second. */
function watch(manager: ProberManager, index: number, port: number): void {
  const id = String(index);
  const livenessProbe = { httpGet: { path: `/${index}`, port }, periodSeconds: 1, timeoutSeconds: 1 };
  const containers = [{ name: 'app', image: 'x', livenessProbe }];
  const metadata = { name: id, namespace: 'default', uid: id };
  const container = { id, name: 'app', state: 'running', startedAtMs: Date.now() };
  const status = { pod: metadata, sandboxes: [], containers: [container] } as never;
  manager.update({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers } }, status, ['127.0.0.1']);
}

function report(askedMs: number[][], cpuSeconds: number): void {
  const late = askedMs
    .flatMap((times) => times.map((time, index) => time - times[0]! - index * 1000))
    .sort((a, b) => a - b);
  const counts = askedMs.map(({ length }) => length);
  const at = (share: number) => `${late[Math.floor((late.length - 1) * share)]!.toFixed(1)} ms`;
  console.log(`${PROBES} containers, ${SECONDS} s: ${Math.min(...counts)} to ${Math.max(...counts)} probes each`);
  console.log(`against their ticks: 1 % ${at(0.01)}, median ${at(0.5)}, 99 % ${at(0.99)}, most ${at(1)}`);
  const made = counts.reduce((sum, count) => sum + count, 0);
  console.log(
    `processor: ${((cpuSeconds / made) * 1e6).toFixed(0)} µs a probe, ${((100 * cpuSeconds) / SECONDS).toFixed(1)} % of a core`,
  );
}
