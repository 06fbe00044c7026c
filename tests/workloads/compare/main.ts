/**
 * Compares Podwright's controllers with kube-controller-manager: runs the same steps on four control planes, and compares their objects and
 * events after each step.
 *
 *     node tests/workloads/compare/main.ts [SCENARIO…]
 *
 * SCENARIO is a substring of a scenario's name; by default, all are run. PODWRIGHT_KUBERNETES_BIN is the directory that contains
 * kube-apiserver and kube-controller-manager, and PODWRIGHT_ETCD the path of the etcd binary. PODWRIGHT_COMPARE_SIDES is a comma-separated
 * selection of the control planes in `control-planes.ts`. Prints the differences from upstream's control plane and a table of how many
 * there are. Exits with 1 if there are any.
 */
import { isDeepStrictEqual } from 'node:util';
import { errorMessage, sleep } from '@podwright/base';
import { type KubeClient, NAMESPACES, SERVICE_ACCOUNTS } from '@podwright/kube-client';
import { addNode, ScriptedKubelet } from '../scripted-kubelet.fixture.ts';
import { SIDES, type Side, type SideName, startSide } from './control-planes.ts';
import { Heartbeats } from './heartbeats.ts';
import { GeneratedNames } from './names.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Snapshot, WatchedObjects } from './snapshot.ts';
import type { Place, Scenario, Step } from './steps.ts';

/** A control plane to compare, with a scripted kubelet for its nodes. */
type RunningSide = Side & { watched: WatchedObjects; heartbeats: Heartbeats; kubelet: ScriptedKubelet };

/** Objects are compared once none has changed for REST_MS, or after MAX_STEP_MS at the latest. */
const REST_MS = 1500;
const MAX_STEP_MS = 20_000;
/** Maximum number of characters of a value in a printed difference. */
const MAX_CHARACTERS = 400;
const SECOND_NODE = 'n2';

async function startRun(name: SideName): Promise<RunningSide> {
  const side = await startSide(name);
  const { client } = side;
  const kubelet = await ScriptedKubelet.start(client);
  await addNode(client, SECOND_NODE);
  const heartbeats = new Heartbeats(client, ['n1', SECOND_NODE]);
  return { ...side, kubelet, heartbeats, watched: await WatchedObjects.start(client) };
}

async function stopRun({ stop, watched, heartbeats, kubelet }: RunningSide): Promise<void> {
  watched.stop();
  await heartbeats.stop();
  await kubelet.stop();
  await stop();
}

const shortText = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, MAX_CHARACTERS);

/** Yields a line for each field that differs between two objects. */
function* differences(found: unknown, wanted: unknown, path: string): Generator<string> {
  if (isDeepStrictEqual(found, wanted)) return;
  const areObjects = [found, wanted].every((one) => typeof one === 'object' && one !== null);
  if (!areObjects) return yield `${path}: ${shortText(found)} instead of ${shortText(wanted)}`;
  const [a, b] = [found, wanted] as [Record<string, unknown>, Record<string, unknown>];
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
    yield* differences(a[key], b[key], `${path}.${key}`);
}

/** The objects after a step, and the text or error message that it resulted in. */
type Outcome = Snapshot & { answer: string };

/** Returns a line for each difference between a control plane and upstream's. */
function report(found: Outcome, wanted: Outcome): string[] {
  const objects = [...differences(Object.fromEntries(found.objects), Object.fromEntries(wanted.objects), '')];
  const left = [...wanted.events];
  const extra = found.events.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  const answers = found.answer === wanted.answer ? [] : [`the answer is ${found.answer} instead of ${wanted.answer}`];
  return [
    ...[...answers, ...objects],
    ...extra.map((one) => `additional event: ${one}`),
    ...left.map((one) => `missing event: ${one}`),
  ];
}

type StepPlace = { namespace: string; names: GeneratedNames; restMs: number };

/** Runs a step of a scenario, and waits until the objects no longer change. */
async function takeStep(
  step: Step,
  { client, connectAs, heartbeats, watched }: RunningSide,
  { namespace, names, restMs }: StepPlace,
) {
  const given: Place = { client, connectAs, namespace, heartbeats };
  const answer = await step.run(given).catch((error: unknown) => errorMessage(error));
  watched.resetRest();
  const endMs = performance.now() + MAX_STEP_MS;
  while (watched.restMs < restMs && performance.now() < endMs) await sleep(50);
  return { ...watched.snapshot(names), answer: typeof answer === 'string' ? names.replaceIn(answer) : '' };
}

/** Runs a scenario's steps on all control planes. Returns, for each except the first, the number of differences from the first. */
async function runScenario(
  { name, steps, onKubeApiserver, restMs = REST_MS }: Scenario,
  all: RunningSide[],
  namespace: string,
) {
  console.log(`# ${name}`);
  const isIn = ({ name: side }: RunningSide) => !onKubeApiserver || side === 'upstream' || side === 'our controllers';
  const [reference, ...others] = all.filter(isIn);
  const runs = [reference!, ...others];
  await Promise.all(runs.map(({ client }) => openNamespace(client, namespace)));
  for (const { watched } of runs) watched.follow(namespace);
  const seen = new Set<string>();
  const names = new Map(runs.map((run) => [run, new GeneratedNames()]));
  const counts = new Map(others.map((run) => [run.name, 0]));
  for (const step of steps) {
    const outcomes = await Promise.all(
      runs.map((run) => takeStep(step, run, { namespace, names: names.get(run)!, restMs })),
    );
    const found = others.flatMap((run, index) =>
      report(outcomes[index + 1]!, outcomes[0]!).map((text) => ({ side: run.name, text: `${run.name}: ${text}` })),
    );
    const fresh = found.filter(({ text }) => !seen.has(text));
    for (const { side, text } of fresh) {
      seen.add(text);
      counts.set(side, counts.get(side)! + 1);
    }
    console.log(`${fresh.length === 0 ? 'same' : 'DIFFERENT'} after: ${step.name}`);
    for (const { text } of fresh) console.log(`    ${text}`);
  }
  await Promise.all(runs.map(({ client }) => client.delete(NAMESPACES, { name: namespace })));
  return counts;
}

/** Creates the namespace and waits for its default service account. */
async function openNamespace(client: KubeClient, namespace: string): Promise<void> {
  await client.create(NAMESPACES, { metadata: { name: namespace } });
  for (;;) {
    const account = await client.get(SERVICE_ACCOUNTS, { namespace, name: 'default' }).catch(() => undefined);
    if (account !== undefined) return;
    await sleep(100);
  }
}

function selectedSides(): SideName[] {
  const given = process.env.PODWRIGHT_COMPARE_SIDES?.split(',');
  return SIDES.filter((name) => name === 'upstream' || given === undefined || given.includes(name));
}

const wanted = process.argv.slice(2);
const scenarios = SCENARIOS.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
const all = await Promise.all(selectedSides().map(startRun));
const rows: string[] = [];
let total = 0;
for (const [index, scenario] of scenarios.entries()) {
  const counts = await runScenario(scenario, all, `compare-${process.pid}-${index}x`);
  const cells = all.slice(1).map(({ name }) => counts.get(name) ?? '–');
  rows.push(`| ${[scenario.name, scenario.steps.length, ...cells].join(' | ')} |`);
  total += [...counts.values()].reduce((sum, count) => sum + count, 0);
}
for (const run of all) await stopRun(run);
console.log(`\n| ${['scenario', 'steps', ...all.slice(1).map(({ name }) => name)].join(' | ')} |`);
console.log(`|${' --- |'.repeat(all.length + 1)}`);
console.log(rows.join('\n'));
console.log(`${total} differences`);
process.exitCode = total === 0 ? 0 : 1;
