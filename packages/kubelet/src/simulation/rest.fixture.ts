/** Conditions that must hold some time after the last fault. */
import { existsSync, readdirSync } from 'node:fs';
import { allContainers, isSidecar, type Pod } from '@podwright/kube-api';
import type { FaultyRuntime } from './faulty-runtime.fixture.ts';
import { uidOf } from './invariants.fixture.ts';
import type { NodeState } from './kubelet-core.fixture.ts';

/** Returns the problems with a desired pod, given its phase and its running containers. Pure. */
export function unrestOf(pod: Pod, phase: string | undefined, running: ReadonlySet<string>): string[] {
  const { name } = pod.metadata;
  if (phase === 'Succeeded' || phase === 'Failed') {
    if (running.size > 0) return [`pod ${name} has ended, but ${[...running]} runs`];
    return pod.spec.restartPolicy === 'Always' ? [`pod ${name} ends as ${phase}`] : [];
  }
  if (pod.spec.restartPolicy !== 'Always') return [`pod ${name} does not end: ${phase}`];
  const wanted = allContainers(pod.spec).filter((one) => pod.spec.containers.includes(one) || isSidecar(one));
  const missing = wanted.filter((one) => !running.has(one.name)).map((one) => one.name);
  if (missing.length > 0) return [`pod ${name}: ${missing} does not run (${phase})`];
  return phase === 'Running' ? [] : [`pod ${name} runs, but its phase is ${phase}`];
}

type Place = { runtime: FaultyRuntime; node: NodeState; directory: string; statuses: string[] };

/**
 * Reports everything that remains of pods that are not in `wanted`, such as sandboxes, containers, cgroups, volume and log directories, and
 * statuses.
 */
export function leftovers({ runtime, node, directory, statuses }: Place, wanted: ReadonlySet<string>): string[] {
  const logs = existsSync(directory) ? readdirSync(directory).map((path) => path.split('_')[2] ?? path) : [];
  const kinds = {
    sandbox: runtime.sandboxes.map(({ config }) => config.metadata?.uid ?? ''),
    container: runtime.fake.containers.map(uidOf),
    'volume directory': [...node.volumes.keys()],
    cgroup: [...node.cgroups],
    // count only pods that have been recorded: a kubelet that is killed before it has recorded a pod leaves an empty directory behind
    'log directory': logs.filter((uid) => node.recorded.has(uid)),
    status: statuses,
    'status record': [...node.records.keys()],
  };
  return Object.entries(kinds).flatMap(([kind, owners]) => {
    const leftover = owners.filter((uid) => !wanted.has(uid));
    return leftover.length === 0 ? [] : [`a ${kind} of pod ${leftover[0]} is left`];
  });
}
