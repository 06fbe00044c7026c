/**
 * Compares the controllers of workloads with kube-controller-manager: the same steps on four control planes, and after each step their objects
 * and events.
 *
 *     node tests/workloads/compare/main.ts [SCENARIO…]
 *
 * PODWRIGHT_KUBERNETES_BIN names the directory of kube-apiserver and kube-controller-manager, PODWRIGHT_ETCD etcd. PODWRIGHT_COMPARE_SIDES
 * selects some of the sides of `control-planes.ts`, by commas. Prints the differences from upstream's control plane and a table of them, and exits
 * with 1 if there are any.
 */
import { isDeepStrictEqual } from 'node:util';
import { errorMessage } from '@podwright/base';
import { type KubeClient, NAMESPACES, SERVICE_ACCOUNTS } from '@podwright/kube-client';
import { addNode, ScriptedKubelet } from '../scripted-kubelet.fixture.ts';
import { SIDES, type Side, type SideName, startSide } from './control-planes.ts';
import { Heartbeats } from './heartbeats.ts';
import { Names } from './names.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Snapshot, Watched } from './snapshot.ts';
import type { Place, Scenario, Step } from './steps.ts';

/** A side under comparison, with its nodes. */
type Run = Side & { watched: Watched; heartbeats: Heartbeats; kubelet: ScriptedKubelet };

const REST_MS = 1500;
const LONGEST_MS = 20_000;
/** Of a value in the report. */
const MOST_CHARACTERS = 400;
const SECOND_NODE = 'n2';

async function startRun(name: SideName): Promise<Run> {
  const side = await startSide(name);
  const { client } = side;
  const kubelet = await ScriptedKubelet.start(client);
  await addNode(client, SECOND_NODE);
  const heartbeats = new Heartbeats(client, ['n1', SECOND_NODE]);
  return { ...side, kubelet, heartbeats, watched: await Watched.start(client) };
}

async function stopRun({ stop, watched, heartbeats, kubelet }: Run): Promise<void> {
  watched.stop();
  await heartbeats.stop();
  await kubelet.stop();
  await stop();
}

const brief = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, MOST_CHARACTERS);

function* differences(found: unknown, wanted: unknown, path: string): Generator<string> {
  if (isDeepStrictEqual(found, wanted)) return;
  const areObjects = [found, wanted].every((one) => typeof one === 'object' && one !== null);
  if (!areObjects) return yield `${path}: ${brief(found)} instead of ${brief(wanted)}`;
  const [a, b] = [found, wanted] as [Record<string, unknown>, Record<string, unknown>];
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
    yield* differences(a[key], b[key], `${path}.${key}`);
}

type Outcome = Snapshot & { answer: string };

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

type StepPlace = { namespace: string; names: Names; restMs: number };

async function takeStep(step: Step, { client, heartbeats, watched }: Run, { namespace, names, restMs }: StepPlace) {
  const given: Place = { client, namespace, heartbeats };
  const answer = await step.run(given).catch((error: unknown) => errorMessage(error));
  watched.awake();
  const endMs = performance.now() + LONGEST_MS;
  while (watched.restMs < restMs && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 50));
  return { ...watched.snapshot(names), answer: typeof answer === 'string' ? names.shown(answer) : '' };
}

/** Returns the number of differences of each side but the first. */
async function runScenario(
  { name, steps, onKubeApiserver, restMs = REST_MS }: Scenario,
  all: Run[],
  namespace: string,
) {
  console.log(`# ${name}`);
  const isIn = ({ name: side }: Run) => !onKubeApiserver || side === 'upstream' || side === 'our controllers';
  const [reference, ...others] = all.filter(isIn);
  const runs = [reference!, ...others];
  await Promise.all(runs.map(({ client }) => openNamespace(client, namespace)));
  for (const { watched } of runs) watched.follow(namespace);
  const seen = new Set<string>();
  const names = new Map(runs.map((run) => [run, new Names()]));
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

async function openNamespace(client: KubeClient, namespace: string): Promise<void> {
  await client.create(NAMESPACES, { metadata: { name: namespace } });
  for (;;) {
    const account = await client.get(SERVICE_ACCOUNTS, { namespace, name: 'default' }).catch(() => undefined);
    if (account !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
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
