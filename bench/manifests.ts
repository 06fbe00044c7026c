import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContainerEventType } from '@podwright/cri';
import { NodeClient } from '../packages/cli/src/client/node-client.ts';
import type { Bench } from './bench.ts';
import { IMAGE, loadImage, type PodwrightSetup, type Side, startPodwright } from './sides.ts';
import { until } from './until.ts';

/**
 * A node that runs manifests. `started` and `gone` are the `performance.now()` times at which the runtime reported container starts and
 * sandbox removals.
 */
export type BenchNode = Side & { client: NodeClient; started: number[]; gone: number[] };

/** Written manifests, and how long each took until its container ran. */
export type Written = { paths: string[]; tookMs: number[] };

/** Starts `podwright node` and follows its runtime's events instead of polling. */
export async function startNode(
  { scratch, sides }: Pick<Bench, 'scratch' | 'sides'>,
  setup: Omit<PodwrightSetup, 'command'>,
): Promise<BenchNode> {
  const side = await startPodwright(scratch, { ...setup, command: 'node' });
  sides.push(side);
  const node = { ...side, client: new NodeClient(join(side.directory, 'run/node.sock')), started: [], gone: [] };
  void followEvents(node);
  await loadImage(side);
  return node;
}

/** Records the times of container starts and sandbox removals until the event stream closes. */
async function followEvents({ cri, started, gone }: BenchNode): Promise<void> {
  const { CONTAINER_STARTED_EVENT: start, CONTAINER_DELETED_EVENT: deletion } = ContainerEventType;
  try {
    for await (const { containerEventType, containerId, podSandboxStatus } of cri.runtime.getContainerEvents({})) {
      const ofSandbox = containerId === podSandboxStatus?.id;
      if (containerEventType === start && !ofSandbox) started.push(performance.now());
      if (containerEventType === deletion && ofSandbox) gone.push(performance.now());
    }
  } catch {
    // the event stream fails when the node is stopped
  }
}

let counter = 0;

/** Writes manifests and waits until the runtime reports that their containers have started. */
export async function runManifests(node: BenchNode, count: number): Promise<Written> {
  const group = `g${counter++}`;
  const names = Array.from({ length: count }, (_, index) => `${group}-${index}`);
  const directory = join(node.directory, 'root/manifests');
  node.started.length = 0;
  const beginMs = performance.now();
  const paths = names.map((name) => {
    // manifests are written to a temporary file and renamed, so the kubelet only sees complete ones
    const [temporary, path] = [join(directory, `.${name}.tmp`), join(directory, `${name}.yaml`)];
    writeFileSync(temporary, manifest(name));
    renameSync(temporary, path);
    return path;
  });
  await until(() => node.started.length >= count || undefined, 1);
  return { paths, tookMs: node.started.map((atMs) => atMs - beginMs) };
}

/** Removes manifests and waits until the runtime reports that their sandboxes are gone. */
export async function removeManifests(node: BenchNode, { paths }: Written): Promise<void> {
  node.gone.length = 0;
  for (const path of paths) rmSync(path);
  await until(() => node.gone.length >= paths.length || undefined, 1);
}

function manifest(name: string): string {
  return `apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - { name: c, image: "${IMAGE}", command: [sleep, "3600"] }
`;
}
