import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContainerEventType } from '@podwright/cri';
import { NodeClient } from '../packages/cli/src/client/node-client.ts';
import { IMAGE, loadImage, type PodwrightSetup, type Side, startPodwright } from './sides.ts';
import { until } from './until.ts';

/** A node that runs manifests; when containers' starts and sandboxes' ends were told, in `performance.now()`. */
export type BenchNode = Side & { client: NodeClient; started: number[]; gone: number[] };

/** Manifests that were written, and how long after that each pod's container ran. */
export type Written = { paths: string[]; tookMs: number[] };

/** `podwright node`, whose runtime is asked to tell what happens, rather than asked again and again. */
export async function startNode(scratch: string, setup: Omit<PodwrightSetup, 'command'>): Promise<BenchNode> {
  const side = await startPodwright(scratch, { ...setup, command: 'node' });
  const node = { ...side, client: new NodeClient(join(side.directory, 'run/node.sock')), started: [], gone: [] };
  void followEvents(node);
  await loadImage(side);
  return node;
}

/** Ends with the connection. */
async function followEvents({ cri, started, gone }: BenchNode): Promise<void> {
  const { CONTAINER_STARTED_EVENT: start, CONTAINER_DELETED_EVENT: deletion } = ContainerEventType;
  try {
    for await (const { containerEventType, containerId, podSandboxStatus } of cri.runtime.getContainerEvents({})) {
      const ofSandbox = containerId === podSandboxStatus?.id;
      if (containerEventType === start && !ofSandbox) started.push(performance.now());
      if (containerEventType === deletion && ofSandbox) gone.push(performance.now());
    }
  } catch {
    // the node was stopped
  }
}

let counter = 0;

/** Writes manifests and waits until the runtime has told that their containers run. */
export async function runManifests(node: BenchNode, count: number): Promise<Written> {
  const group = `g${counter++}`;
  const names = Array.from({ length: count }, (_, index) => `${group}-${index}`);
  const directory = join(node.directory, 'root/manifests');
  node.started.length = 0;
  const beginMs = performance.now();
  const paths = names.map((name) => {
    // Written beside and renamed, as tools write files that others watch.
    const [temporary, path] = [join(directory, `.${name}.tmp`), join(directory, `${name}.yaml`)];
    writeFileSync(temporary, manifest(name));
    renameSync(temporary, path);
    return path;
  });
  await until(() => node.started.length >= count || undefined, 1);
  return { paths, tookMs: node.started.map((atMs) => atMs - beginMs) };
}

/** Removes them again, and waits until the runtime has told that their sandboxes have gone. */
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
