/** What must be so once nothing goes wrong any more. */
import { existsSync, readdirSync } from 'node:fs';
import { allContainers, isSidecar, type Pod } from '@podwright/kube-api';
import type { FaultyRuntime } from './faulty-runtime.fixture.ts';
import { uidOf } from './invariants.fixture.ts';
import type { NodeState } from './kubelet-core.fixture.ts';

/** What is wrong with a pod that is wanted, and of which these containers run. Pure. */
export function unrestOf(pod: Pod, phase: string | undefined, running: ReadonlySet<string>): string[] {
  const { name } = pod.metadata;
  if (phase === 'Succeeded' || phase === 'Failed') {
    if (running.size > 0) return [`pod ${name} has ended, and ${[...running]} runs`];
    return pod.spec.restartPolicy === 'Always' ? [`pod ${name} ends as ${phase}`] : [];
  }
  if (pod.spec.restartPolicy !== 'Always') return [`pod ${name} does not end: ${phase}`];
  const wanted = allContainers(pod.spec).filter((one) => pod.spec.containers.includes(one) || isSidecar(one));
  const missing = wanted.filter((one) => !running.has(one.name)).map((one) => one.name);
  if (missing.length > 0) return [`pod ${name}: ${missing} does not run (${phase})`];
  return phase === 'Running' ? [] : [`pod ${name} runs, and its phase is ${phase}`];
}

type Place = { runtime: FaultyRuntime; node: NodeState; directory: string; statuses: string[] };

/** What the node has of other pods than these. */
export function leftovers({ runtime, node, directory, statuses }: Place, wanted: ReadonlySet<string>): string[] {
  const logs = existsSync(directory) ? readdirSync(directory).map((path) => path.split('_')[2] ?? path) : [];
  const kinds = {
    sandbox: runtime.sandboxes.map(({ config }) => config.metadata?.uid ?? ''),
    container: runtime.fake.containers.map(uidOf),
    'volume directory': [...node.volumes.keys()],
    cgroup: [...node.cgroups],
    // a kubelet that dies before it has written a pod down leaves an empty directory
    'log directory': logs.filter((uid) => node.recorded.has(uid)),
    status: statuses,
    'status record': [...node.records.keys()],
  };
  return Object.entries(kinds).flatMap(([kind, owners]) => {
    const left = owners.filter((uid) => !wanted.has(uid));
    return left.length === 0 ? [] : [`a ${kind} is left of pod ${left[0]}`];
  });
}
