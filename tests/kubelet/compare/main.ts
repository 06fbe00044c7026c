/**
 * `node tests/kubelet/compare/main.ts [NAME…]`: gives the manifests of `manifests.ts` to upstream's kubelet, whose binary
 * PODWRIGHT_UPSTREAM_KUBELET names, and to ours, each on a containerd of its own, and prints how they differ: in the pods as
 * they show them, what they ask of the runtime, and the events. Each line of the result has `-` for what upstream alone has,
 * `+` for what ours alone has, and the pods that it is true of. Lines that docs/differences.md explains are printed, too.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { discoverCgroups, removeCgroup, runProgram, sleep } from '@podwright/base';
import { startContainerd } from '../containerd.fixture.ts';
import { type ComparedKubelet, type Places, startOurs, startUpstream } from './kubelets.ts';
import { MANIFESTS } from './manifests.ts';
import { type Observed, observe } from './observed.ts';
import { startRecorder } from './recorder.ts';

const UP_MS = Number(process.env.PODWRIGHT_COMPARE_UP_SECONDS ?? 100) * 1000;
const DOWN_MS = Number(process.env.PODWRIGHT_COMPARE_DOWN_SECONDS ?? 45) * 1000;
const START_MS = 3000;
const OUR_CGROUP = '/podwright-compare';

/** What `kind` does with the manifests; with PODWRIGHT_COMPARE_KEEP, its log and calls stay in that directory. */
async function run(kind: 'upstream' | 'ours', manifests: Record<string, string>): Promise<Map<string, Observed>> {
  const containerd = await startContainerd(kind === 'ours' ? 'o' : 'u');
  const scratch = join(containerd.scratch, 'k');
  const directory = (name: string) => join(scratch, name);
  const places: Places = {
    scratch,
    root: directory('root'),
    logs: directory('logs'),
    manifests: directory('manifests'),
  };
  for (const path of Object.values(places)) mkdirSync(path, { recursive: true });
  const recorder = await startRecorder(directory('r.sock'), containerd.endpoint);
  const cgroupRoot = kind === 'ours' ? OUR_CGROUP : '/kubepods';
  const kubelet = await (kind === 'ours'
    ? startOurs(recorder.endpoint, cgroupRoot, places)
    : startUpstream(process.env.PODWRIGHT_UPSTREAM_KUBELET!, recorder.endpoint, places));
  try {
    await sleep(START_MS);
    const pods = await podsAfter(kubelet, places, manifests);
    const { calls } = recorder;
    keep(kind, places, calls);
    const seen = {
      pods,
      events: await kubelet.events(),
      calls,
      places,
      cgroupRoot: OUR_CGROUP,
    };
    return observe(seen);
  } finally {
    await kubelet.stop();
    await recorder.close();
    await containerd.stop();
    await removeCgroup(await discoverCgroups(), cgroupRoot);
  }
}

/** The pods as they are after a while; afterwards their manifests are taken away. */
async function podsAfter(kubelet: ComparedKubelet, places: Places, manifests: Record<string, string>) {
  for (const [name, text] of Object.entries(manifests)) writeFileSync(join(places.manifests, `${name}.yaml`), text);
  await sleep(UP_MS);
  const pods = structuredClone(await kubelet.pods());
  for (const file of readdirSync(places.manifests)) rmSync(join(places.manifests, file));
  await sleep(DOWN_MS);
  await unmountVolumes(places.root);
  return pods;
}

async function unmountVolumes(root: string): Promise<void> {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '');
  for (const point of points.filter((one) => one.startsWith(`${root}/`))) await runProgram('umount', ['-l', point]);
}

function keep(kind: string, { scratch }: Places, calls: object[]): void {
  const directory = process.env.PODWRIGHT_COMPARE_KEEP;
  if (directory === undefined) return;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `${kind}.calls.jsonl`), calls.map((call) => JSON.stringify(call)).join('\n'));
  if (kind === 'upstream') cpSync(join(scratch, 'kubelet.log'), join(directory, 'upstream.log'));
}

/** `where sign fact` with the names of the pods that have it. */
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
const manifests = Object.fromEntries(
  Object.entries(MANIFESTS).filter(([name]) => names.length === 0 || names.includes(name)),
);
const found = differences(await run('upstream', manifests), await run('ours', manifests));
for (const [line, pods] of [...found].sort(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${line}    (${pods.length > 8 ? `${pods.length} pods` : pods.join(', ')})`);
