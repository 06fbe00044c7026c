/**
 * `node tests/kubelet/compare/main.ts [NAME…]`: gives the manifests in `manifests.ts` (all of them, or the groups and pods named) to
 * upstream's kubelet (PODWRIGHT_UPSTREAM_KUBELET is the path of its binary) and to ours, each on its own containerd, and prints how they
 * differ in the pods they report, the CRI calls they make, and the events for pods and the node. Each line of the result has `-` (only
 * upstream) or `+` (only ours), followed by the pods it applies to. Differences explained in docs/differences are printed too.
 * PODWRIGHT_COMPARE_KEEP, if set, is a directory in which to save what each kubelet did for each pod over time. With
 * PODWRIGHT_COMPARE_RUNTIME=podwright, both kubelets use our runtime instead.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '@podwright/base';
import { discoverCgroups, removeCgroup, runProgram } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { startContainerd } from '../containerd.fixture.ts';
import { startOwnRuntime } from '../own-runtime.fixture.ts';
import { type Places, startOurs, startUpstream } from './kubelets.ts';
import { GROUPS, type Script } from './manifests.ts';
import { callsByPod, type Observed, observe, type Run, withoutNode } from './observed.ts';
import { startRecorder } from './recorder.ts';
import { PodWatch, timelineOf } from './timeline.ts';

const UP_MS = Number(process.env.PODWRIGHT_COMPARE_UP_SECONDS ?? 100) * 1000;
const DOWN_MS = Number(process.env.PODWRIGHT_COMPARE_DOWN_SECONDS ?? 45) * 1000;
const START_MS = 3000;
const CGROUPS = { ours: `/pwcompare${process.pid}o`, upstream: `/pwcompare${process.pid}u` };

type Kind = 'upstream' | 'ours';

const startRuntime = process.env.PODWRIGHT_COMPARE_RUNTIME === 'podwright' ? () => startOwnRuntime() : startContainerd;

/** Runs the manifests on a kubelet; returns the observed facts by pod. */
async function run(kind: Kind, group: string, scripts: Record<string, Script>): Promise<Map<string, Observed>> {
  const runtime = await startRuntime(kind === 'ours' ? 'o' : 'u');
  const scratch = join(runtime.scratch, 'k');
  const directory = (name: string) => join(scratch, name);
  const places: Places = {
    scratch,
    root: directory('root'),
    logs: directory('logs'),
    manifests: directory('manifests'),
  };
  for (const path of Object.values(places)) mkdirSync(path, { recursive: true });
  const recorder = await startRecorder(directory('r.sock'), runtime.endpoint);
  const cgroupRoot = CGROUPS[kind];
  const kubelet = await (kind === 'ours' ? startOurs : startUpstream)(recorder.endpoint, cgroupRoot, places);
  try {
    await sleep(START_MS);
    const watch = new PodWatch(kubelet);
    const beginMs = Date.now();
    const pods = await play(watch, places, scripts);
    const { calls } = recorder;
    const seen = { pods, events: await kubelet.events(), calls, places, cgroupRoot };
    save(`${kind}.${group}`, { seen, watch, beginMs });
    return observe(seen);
  } finally {
    await kubelet.stop();
    await recorder.close();
    await unmountVolumes(places.root);
    await runtime.stop().catch(console.error);
    await removeCgroup(await discoverCgroups(), cgroupRoot);
  }
}

/** Writes, changes and removes the manifests as scripted. Returns the pods as they were before all remaining manifests were removed. */
async function play(watch: PodWatch, places: Places, scripts: Record<string, Script>): Promise<Pod[]> {
  const put = (name: string, text: string) => {
    const file = join(places.manifests, `${name}.yaml`);
    if (text === '') rmSync(file, { force: true });
    else writeFileSync(file, text);
  };
  const steps = Object.entries(scripts).flatMap(([name, { text, later }], index) => {
    const first = index * spacingSeconds(scripts);
    const next = later.map((step) => ({ name, text: step.text, seconds: first + step.seconds }));
    return [{ name, text, seconds: first }, ...next];
  });
  const beginMs = Date.now();
  for (const { name, seconds, text } of steps.sort((a, b) => a.seconds - b.seconds)) {
    await sleep(Math.max(0, beginMs + seconds * 1000 - Date.now()));
    put(name, text);
  }
  const allMs = Object.keys(scripts).length * spacingSeconds(scripts) * 1000;
  await sleep(Math.max(0, beginMs + allMs + UP_MS - Date.now()));
  const pods = structuredClone([...watch.last.values()]);
  for (const file of readdirSync(places.manifests)) rmSync(join(places.manifests, file));
  await sleep(DOWN_MS);
  await watch.close();
  return pods;
}

/**
 * Returns the interval between writing manifests: if pods are changed or deleted later, starting them all at once would be too slow for
 * their containers to run by then.
 */
function spacingSeconds(scripts: Record<string, Script>): number {
  return Object.values(scripts).some(({ later }) => later.length > 0) ? 1 : 0;
}

/** Unmounts leftover volumes and the root directory, which upstream's kubelet bind-mounts onto itself, deepest first. */
async function unmountVolumes(root: string): Promise<void> {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '');
  for (const point of points.reverse().filter((one) => `${one}/`.startsWith(`${root}/`)))
    await runProgram('umount', ['-l', point]);
}

function save(name: string, { seen, watch, beginMs }: { seen: Run; watch: PodWatch; beginMs: number }): void {
  const directory = process.env.PODWRIGHT_COMPARE_KEEP;
  if (directory === undefined) return;
  mkdirSync(directory, { recursive: true });
  const file = (kind: string) => join(directory, `${name}.${kind}`);
  writeFileSync(file('calls.jsonl'), seen.calls.map((call) => JSON.stringify(call)).join('\n'));
  const log = join(seen.places.scratch, 'kubelet.log');
  if (existsSync(log)) cpSync(log, file('log'));
  const calls = callsByPod(seen.calls);
  const timelines = [...watch.last.keys()].sort().map((pod) => {
    const events = seen.events.filter(({ object }) => object.endsWith(`/${pod}`));
    const lines = timelineOf(beginMs, { moments: watch.moments(pod), events, calls: calls.get(pod) ?? [] });
    return [`== ${withoutNode(pod)}`, ...lines, ''].join('\n');
  });
  writeFileSync(file('timelines'), timelines.join('\n'));
}

/** Returns the differences between two runs, as lines of the form `WHERE SIGN FACT`, each with the pods that it applies to. */
function differences(upstream: Map<string, Observed>, ours: Map<string, Observed>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const add = (pod: string, line: string) => found.set(line, [...(found.get(line) ?? []), pod]);
  for (const pod of new Set([...upstream.keys(), ...ours.keys()])) {
    const [theirs, own] = [upstream.get(pod), ours.get(pod)];
    if (theirs === undefined || own === undefined) {
      add(pod, `only ${own === undefined ? 'upstream' : 'ours'} has the pod`);
      continue;
    }
    for (const where of Object.keys(theirs)) {
      for (const fact of theirs[where]!) if (!own[where]!.includes(fact)) add(pod, `${where} - ${fact}`);
      for (const fact of own[where]!) if (!theirs[where]!.includes(fact)) add(pod, `${where} + ${fact}`);
    }
  }
  return found;
}

const names = process.argv.slice(2);
for (const [group, all] of Object.entries(GROUPS)) {
  const isAsked = (name: string) => names.length === 0 || names.includes(group) || names.includes(name);
  const scripts = Object.fromEntries(Object.entries(all).filter(([name]) => isAsked(name)));
  if (Object.keys(scripts).length === 0) continue;
  const found = differences(await run('upstream', group, scripts), await run('ours', group, scripts));
  for (const [line, pods] of [...found].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${line}    (${pods.length > 8 ? `${pods.length} pods` : pods.join(', ')})`);
}
