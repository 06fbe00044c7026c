/**
 * Compares the controllers of workloads with kube-controller-manager: the same steps on two API servers, and after each step the objects and
 * events of the namespace.
 *
 *     node tests/workloads/compare/main.ts [SCENARIO…]
 *
 * PODWRIGHT_COMPARE_OURS and PODWRIGHT_COMPARE_THEIRS are kubeconfigs of administrators. On the first server this program runs Podwright's
 * controllers, so a kube-controller-manager there must not have the same ones. On the second server kube-controller-manager runs. Neither has a
 * scheduler or kubelets. With PODWRIGHT_COMPARE_CONTROLLERS=false it runs on the first one too, so that the two API servers are compared. Prints
 * the differences, and exits with 1 if there are any.
 */
import { isDeepStrictEqual } from 'node:util';
import { createLogger, silentLogger } from '@podwright/base';
import { startControllers } from '@podwright/controllers';
import type { Resource } from '@podwright/kube-api';
import { createKubeClient, type KubeClient, readKubeconfig, SERVICE_ACCOUNTS } from '@podwright/kube-client';
import { CONTROLLERS } from '../controllers.fixture.ts';
import { FakeKubelet } from '../fake-kubelet.fixture.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import { Names, snapshot } from './snapshot.ts';

type Snapshot = Awaited<ReturnType<typeof snapshot>>;
type Side = { name: string; client: KubeClient };

const NAMESPACES: Resource = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false };
/** Objects are at rest if they did not change for this time. */
const REST_MS = 1500;
const LONGEST_MS = 60_000;

async function sideOf(name: string, variable: string): Promise<Side> {
  const path = process.env[variable];
  if (path === undefined) throw new Error(`${variable} must name a kubeconfig`);
  return { name, client: createKubeClient(await readKubeconfig(path)) };
}

async function atRest({ client }: Side, place: { namespace: string; names: Names }): Promise<Snapshot> {
  const endMs = performance.now() + LONGEST_MS;
  let last = await snapshot(client, place);
  for (let sinceMs = performance.now(); performance.now() - sinceMs < REST_MS && performance.now() < endMs; ) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const next = await snapshot(client, place);
    if (!isDeepStrictEqual(next, last)) sinceMs = performance.now();
    last = next;
  }
  return last;
}

function* differences(ours: unknown, theirs: unknown, path: string): Generator<string> {
  if (isDeepStrictEqual(ours, theirs)) return;
  const areObjects = [ours, theirs].every((one) => typeof one === 'object' && one !== null);
  if (!areObjects) return yield `${path}: ${JSON.stringify(ours)} instead of ${JSON.stringify(theirs)}`;
  const [a, b] = [ours, theirs] as [Record<string, unknown>, Record<string, unknown>];
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
    yield* differences(a[key], b[key], `${path}.${key}`);
}

function report(ours: Snapshot, theirs: Snapshot): string[] {
  const found = [...differences(Object.fromEntries(ours.objects), Object.fromEntries(theirs.objects), '')];
  const left = [...theirs.events];
  const extra = ours.events.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return [...found, ...extra.map((one) => `only ours: ${one}`), ...left.map((one) => `only theirs: ${one}`)];
}

async function runScenario({ name, steps }: Scenario, sides: [Side, Side], namespace: string): Promise<number> {
  console.log(`# ${name}`);
  let count = 0;
  await Promise.all(sides.map(({ client }) => openNamespace(client, namespace)));
  const seen = new Set<string>();
  const names = new Map(sides.map((side) => [side, new Names()]));
  for (const step of steps) {
    const [ours, theirs] = await Promise.all(
      sides.map(async (side) => {
        await step
          .run({ client: side.client, namespace })
          .catch((error: unknown) => console.log(`${side.name}: ${error}`));
        return await atRest(side, { namespace, names: names.get(side)! });
      }),
    );
    const found = report(ours!, theirs!).filter((one) => !seen.has(one));
    for (const one of found) seen.add(one);
    count += found.length;
    console.log(`${found.length === 0 ? 'same' : 'DIFFERENT'} after: ${step.name}`);
    for (const one of found) console.log(`    ${one}`);
  }
  await Promise.all(sides.map(({ client }) => client.delete(NAMESPACES, { name: namespace })));
  return count;
}

async function openNamespace(client: KubeClient, namespace: string): Promise<void> {
  await client.create(NAMESPACES, { metadata: { name: namespace } });
  for (;;) {
    const account = await client.get(SERVICE_ACCOUNTS, { namespace, name: 'default' }).catch(() => undefined);
    if (account !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const wanted = process.argv.slice(2);
const scenarios = SCENARIOS.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
const sides: [Side, Side] = [
  await sideOf('ours', 'PODWRIGHT_COMPARE_OURS'),
  await sideOf('theirs', 'PODWRIGHT_COMPARE_THEIRS'),
];
const logger = process.env.DEBUG === undefined ? silentLogger : createLogger({ level: 'debug' } as never);
const own = process.env.PODWRIGHT_COMPARE_CONTROLLERS === 'false' ? {} : CONTROLLERS;
const controllers = startControllers({ client: sides[0].client, controllers: own, logger });
const kubelets = await Promise.all(sides.map(({ client }) => FakeKubelet.start(client)));
let count = 0;
for (const [index, scenario] of scenarios.entries())
  count += await runScenario(scenario, sides, `compare-${process.pid}-${index}`);
await Promise.all(kubelets.map((one) => one.stop()));
await controllers.stop();
for (const { client } of sides) client.close();
console.log(`${count} differences`);
process.exitCode = count === 0 ? 0 : 1;
