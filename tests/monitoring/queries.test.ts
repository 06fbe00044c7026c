/** A real Prometheus that scrapes a node returns data for every query of the dashboard and the alerts in `contrib`. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor, withTimeout } from '@podwright/base';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { familyOf, filledIn, readDashboard, selectorsOf } from './dashboard.fixture.ts';
import { MonitoredNode } from './monitored-node.fixture.ts';

/** Range over which rates are computed: long enough for several scrapes even on a busy host. */
const INTERVAL = '1m';
const PATIENCE_MS = 150_000;
/** How often to produce samples with `MonitoredNode.work`. */
const ROUNDS = 10;

const CLUSTER = 'only nodes of a cluster have certificates that expire';
/** Metrics that have no series on the test's node, with the reasons. */
const EMPTY: Record<string, string> = {
  kubelet_evictions: 'nothing runs short',
  kubelet_admission_rejections_total: 'the node refuses no pod',
  kubelet_image_garbage_collected_total: 'no image is removed',
  kubelet_certificate_manager_client_ttl_seconds: CLUSTER,
  kubelet_certificate_manager_server_ttl_seconds: CLUSTER,
  apiserver_flowcontrol_rejected_requests_total: 'no request is rejected',
  apiserver_flowcontrol_current_inqueue_requests: 'no request waits',
};
/** Metrics that only nodes in a cluster expose, so that Prometheus does not even have their names here. */
const IN_CLUSTER_ONLY = Object.keys(EMPTY).filter((name) => EMPTY[name] === CLUSTER);

type Rule = { name: string; query: string; health: string; lastError?: string; state: string };
type Vector = { result: { value: [number, string] }[] };

const dashboard = readDashboard();

let bundle: Bundle;
let node: MonitoredNode;
before(async () => {
  bundle = await buildBundle();
  node = await MonitoredNode.start(bundle, '10.97.64.0/24');
});
after(async () => {
  await node?.remove();
  bundle?.remove();
});

/** Calls Prometheus' HTTP API. Fails with the error message of its response. */
async function ask<T>(path: string): Promise<T> {
  const answer = await (await fetch(`${node.origin}/api/v1/${path}`)).json();
  const { status, data, error } = answer as { status: string; data: T; error?: string };
  assert.equal(status, 'success', `${decodeURIComponent(path)}: ${error}`);
  return data;
}

async function rules(): Promise<Rule[]> {
  const { groups } = await ask<{ groups: { rules: Rule[] }[] }>('rules');
  return groups.flatMap((group) => group.rules);
}

/** Whether a query returns at least one number. Rates of a histogram without observations are NaN. */
async function hasData(query: string): Promise<boolean> {
  const { result } = await ask<Vector>(`query?query=${encodeURIComponent(query)}`);
  return result.some(({ value: [, value] }) => value !== 'NaN');
}

/** Waits until every query has returned data at least once, while producing samples. Returns the queries that have not. */
async function withoutData(queries: string[]): Promise<string[]> {
  let pending = [...new Set(queries)];
  let round = 0;
  using signal = withTimeout(undefined, PATIENCE_MS, 'wait for data of all queries');
  const probe = async () => {
    if (round < ROUNDS) await node.work(round++);
    const found = await Promise.all(pending.map(hasData));
    pending = pending.filter((_, index) => !found[index]);
    return pending.length === 0 || undefined;
  };
  await waitFor(probe, { intervalMs: 1000, signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return pending;
}

const isEmpty = (selectors: string[]) => selectors.some((selector) => familyOf(selector) in EMPTY);

test('Prometheus scrapes all pages of the node', async () => {
  type Target = { labels: Record<string, string>; health: string; lastError: string };
  const targets = async () => (await ask<{ activeTargets: Target[] }>('targets?state=active')).activeTargets;
  const areUp = (all: Target[]) => all.length === 5 && all.every(({ health }) => health === 'up');
  await node.place.until(async () => areUp(await targets())).catch(() => undefined);
  const shown = (await targets()).map(
    ({ labels, health, lastError }) => `${labels.job} ${labels.node} ${labels.metrics_path} ${health}${lastError}`,
  );
  assert.deepEqual(shown.sort(), [
    'podwright-api 127.0.0.1 /metrics up',
    'podwright-kubelet 127.0.0.1 /metrics up',
    'podwright-kubelet 127.0.0.1 /metrics/cadvisor up',
    'podwright-kubelet 127.0.0.1 /metrics/probes up',
    'podwright-kubelet 127.0.0.1 /metrics/resource up',
  ]);
});

test('every query of the dashboard and every series of the alerts has data', async () => {
  const ofPanels = dashboard.panels
    .flatMap(({ targets = [] }) => targets.map(({ expr }) => filledIn(expr, INTERVAL)))
    .filter((query) => !isEmpty(selectorsOf(query)));
  const ofAlerts = (await rules())
    .flatMap(({ query }) => selectorsOf(query))
    .filter((selector) => !isEmpty([selector]));
  assert.ok(ofPanels.length >= 60 && ofAlerts.length >= 15);
  assert.deepEqual(await withoutData([...ofPanels, ...ofAlerts]), []);
});

test('every query is valid, and the node has all its metrics, also those without series', async () => {
  const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => filledIn(expr, INTERVAL)));
  for (const query of queries) await hasData(query);
  const known = Object.keys(await ask<object>('metadata'));
  const used = [...queries, ...(await rules()).map(({ query }) => query)].flatMap(selectorsOf).map(familyOf);
  const unknown = [...new Set(used)].filter((name) => name !== 'up' && !known.includes(name));
  assert.deepEqual(unknown.sort(), IN_CLUSTER_ONLY);
});

test('the variables of the dashboard list the node, its namespaces and pods', async () => {
  const valuesOf = async (name: string) => {
    const { query } = dashboard.templating.list.find((one) => one.name === name) ?? {};
    const text = typeof query === 'object' ? filledIn(query.query, INTERVAL) : '';
    const [, selector = '', label] = /^label_values\((.*), (\w+)\)$/.exec(text) ?? [];
    return await ask<string[]>(`label/${label}/values?match[]=${encodeURIComponent(selector)}`);
  };
  assert.deepEqual(await valuesOf('node'), ['127.0.0.1']);
  assert.deepEqual(await valuesOf('namespace'), ['shop']);
  assert.ok((await valuesOf('pod')).includes('web'));
});

test('Prometheus evaluates all alerts, and the ones for this node’s problems are pending', async () => {
  assert.deepEqual(
    (await rules()).filter(({ health }) => health !== 'ok'),
    [],
  );
  const active = async () => (await rules()).filter(({ state }) => state !== 'inactive').map(({ name }) => name);
  const expected = ['PodwrightExtensionUnavailable', 'PodwrightImagePullFailing', 'PodwrightProbeFailing'];
  await node.place.until(async () => {
    const names = await active();
    return expected.every((name) => names.includes(name));
  });
  const wrong = ['PodwrightNodeDown', 'PodwrightNodeNotReady', 'PodwrightClockDiffers'];
  assert.deepEqual(
    (await active()).filter((name) => wrong.includes(name)),
    [],
  );
  assert.doesNotMatch(node.prometheus.err, /^.*level=(warn|error).*(scrape|rule).*$/im);
});
