/** A real Prometheus scrapes a node's metrics, using the usual kubelet jobs. */
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, freePort, NodePlace, podManifest } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

const PATHS = ['/metrics', '/metrics/cadvisor', '/metrics/resource', '/metrics/probes'];

/**
 * A selector for the series of the pod `web`. Each query in `SERIES` returns one series; Prometheus' jobs are named after the paths that
 * they scrape.
 */
const WEB = 'namespace="default",pod="web"';
const SERIES = [
  'kubelet_running_pods{job="/metrics"} == 1',
  `container_cpu_usage_seconds_total{job="/metrics/cadvisor",${WEB},container="main",cpu="total"}`,
  `container_memory_working_set_bytes{job="/metrics/cadvisor",${WEB},container="main"} > 0`,
  `container_cpu_usage_seconds_total{job="/metrics/resource",${WEB},container="main"} > 0`,
  `pod_memory_working_set_bytes{job="/metrics/resource",${WEB}} > 0`,
  `prober_probe_total{job="/metrics/probes",${WEB},probe_type="Readiness",result="successful"} > 0`,
  `prober_probe_total{job="/metrics/probes",${WEB},probe_type="Liveness",result="successful"} > 0`,
];

/** For each job: whether all samples in a scrape belong to distinct series. */
const DISTINCT = 'count by (job) ({job=~"/.*", __name__!~"up|scrape_.*"}) == on (job) scrape_samples_scraped';

/** Prometheus' counters of samples rejected in successful scrapes. */
const REFUSED =
  /^prometheus_target_scrapes?_\w*(duplicate_timestamp|out_of_bounds|out_of_order|exceeded)\w*_total (.*)$/gm;

type Target = { scrapePool: string; health: string; lastError: string };

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.97.63.0/24');
});
after(async () => {
  await place.remove();
  bundle.remove();
});

/** Starts a node with the kubelet's HTTP API, and a pod with probes. */
async function startNode(port: number): Promise<void> {
  chmodSync(place.file('tokens', 'a-token\n'), 0o600);
  const server = ['[kubelet.server]', 'address = "127.0.0.1"', `port = ${port}`, 'healthz_port = 0'];
  const lines = [...server, `token_file = "${place.path('input/tokens')}"`, ''];
  await place.startDaemon('--config', place.file('server.toml', lines.join('\n')), 'node');
  await place.loadImage();
  const probe = '{periodSeconds: 1, exec: {command: ["true"]}}';
  const manifest = `${podManifest('web', forever)}    readinessProbe: ${probe}\n    livenessProbe: ${probe}\n`;
  await place.ok('apply', '-f', place.file('web.yaml', manifest));
}

/** Returns a Prometheus configuration with a job for each path, as JSON (which is valid YAML). */
function prometheusConfig(port: number): string {
  const jobs = PATHS.map((path) => ({
    job_name: path,
    scheme: 'https',
    metrics_path: path,
    tls_config: { ca_file: place.path('root/kubelet/pki/kubelet.crt') },
    authorization: { credentials_file: place.path('input/tokens') },
    static_configs: [{ targets: [`127.0.0.1:${port}`] }],
  }));
  return JSON.stringify({ global: { scrape_interval: '1s', scrape_timeout: '1s' }, scrape_configs: jobs });
}

function startPrometheus(port: number, config: string): StartedProgram {
  const file = `--config.file=${place.file('prometheus.yml', config)}`;
  const storage = `--storage.tsdb.path=${place.path('prometheus')}`;
  return place.startProgram('prometheus', file, storage, `--web.listen-address=127.0.0.1:${port}`);
}

async function ask<T>(origin: string, path: string): Promise<T> {
  const { data } = (await (await fetch(`${origin}/api/v1/${path}`)).json()) as { data: T };
  return data;
}

/** Polls until `read` returns `expected`; fails with the last value. */
async function eventually<T>(expected: T, read: () => Promise<T>): Promise<void> {
  let last: T | undefined;
  const holds = async () => {
    last = await read();
    return isDeepStrictEqual(last, expected);
  };
  await place.until(holds, 30_000).catch(() => assert.deepEqual(last, expected));
}

test('Prometheus accepts all metrics of a node', async (context) => {
  const [kubeletPort, port] = [await freePort(), await freePort()];
  await startNode(kubeletPort);
  const prometheus = startPrometheus(port, prometheusConfig(kubeletPort));
  context.after(() => prometheus.child.kill('SIGKILL'));
  await prometheus.until(/Server is ready to receive web requests/);
  const origin = `http://127.0.0.1:${port}`;
  await eventually(PATHS.map((path) => `${path} up `).sort(), async () => {
    const { activeTargets } = await ask<{ activeTargets: Target[] }>(origin, 'targets?state=active');
    return activeTargets.map(({ scrapePool, health, lastError }) => `${scrapePool} ${health} ${lastError}`).sort();
  });
  const matches = async (query: string) =>
    (await ask<{ result: unknown[] }>(origin, `query?query=${encodeURIComponent(query)}`)).result.length;
  for (const query of SERIES) await eventually([query, 1], async () => [query, await matches(query)]);
  await eventually([DISTINCT, PATHS.length], async () => [DISTINCT, await matches(DISTINCT)]);
  const refused = [...(await (await fetch(`${origin}/metrics`)).text()).matchAll(REFUSED)];
  assert.ok(refused.length >= 3, 'Prometheus counts rejected samples');
  for (const [line, , count] of refused) assert.equal(count, '0', line);
  assert.doesNotMatch(prometheus.err, /^.*level=(warn|error).*scrape.*$/im);
});
