/**
 * `node tests/kubelet/compare/side-by-side.ts [ROUNDS]`: runs upstream's kubelet (PODWRIGHT_UPSTREAM_KUBELET is the path of its binary) on
 * a containerd, and a `podwright node`, on the same host. Pods are added to both, crash, and are removed, while the two kubelets take turns
 * being killed and restarted. Fails if a permanent pod is restarted, does not respond on its host port, or has lost a cgroup or firewall
 * rule. Takes ten seconds per round.
 */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '@podwright/base';
import { discoverCgroups, removeCgroup } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { nodeAddress, startUpstreamKubelet } from '../../../scripts/upstream-kubelet.ts';
import { takeInventory } from '../../fixtures/host-inventory.ts';
import { buildBundle } from '../../pods/bundle.fixture.ts';
import { forever, freePort, NodePlace, podManifest } from '../../pods/node.fixture.ts';
import { startContainerd } from '../containerd.fixture.ts';

const ROUNDS = Number(process.argv[2] ?? 4);
const COMING = 8;
const PORTS = { readOnly: 10_555, https: 10_550, healthz: 10_548 };
const PATIENCE_MS = 90_000;

/** One of the two kubelets that run side by side. */
type Side = {
  name: string;
  port: number;
  put: (name: string, manifest: string) => Promise<unknown>;
  remove: (names: string[]) => Promise<unknown>;
  pods: () => Promise<Pod[]>;
  /** Kills and restarts the kubelet. */
  restart: () => Promise<unknown>;
  /** The kubelet's cgroups and firewall rules. */
  owned: () => string[];
};

const runtime = await startContainerd('bu');
const cgroupRoot = `/pwsides${process.pid}`;
const bundle = await buildBundle();
const place = new NodePlace(bundle, '10.132.29.0/24');

async function openUpstream(): Promise<{ side: Side; stop: () => Promise<void> }> {
  const directory = join(runtime.scratch, 'k');
  const manifests = join(directory, 'manifests');
  mkdirSync(manifests, { recursive: true });
  const start = () =>
    startUpstreamKubelet({
      ...{ program: process.env.PODWRIGHT_UPSTREAM_KUBELET!, directory, manifests, cgroupRoot, ports: PORTS },
      ...{ root: join(directory, 'root'), logs: join(directory, 'logs'), endpoint: runtime.endpoint },
    });
  let kubelet = await start();
  const scope = { roots: [runtime.scratch], cgroupParent: cgroupRoot, bridge: runtime.bridge };
  const file = (name: string) => join(manifests, `${name}.yaml`);
  const pods = async () => {
    const answer = await fetch(`http://127.0.0.1:${PORTS.readOnly}/pods`).catch(() => undefined);
    const { items } = ((await answer?.json()) ?? { items: null }) as { items: Pod[] | null };
    return items ?? [];
  };
  const side: Side = {
    ...{ name: 'upstream', port: await freePort(), pods, owned: () => owned(scope) },
    put: async (name, manifest) => writeFileSync(file(name), manifest),
    remove: async (names) => names.map((name) => rmSync(file(name))),
    restart: async () => {
      const ended = new Promise((resolve) => kubelet.child.once('exit', resolve));
      kubelet.child.kill('SIGKILL');
      await ended;
      kubelet = await start();
    },
  };
  return { side, stop: () => kubelet.stop() };
}

async function openOurs(): Promise<Side> {
  let daemon = await place.startDaemon('node');
  await place.loadImage();
  return {
    ...{ name: 'ours', port: await freePort(), pods: () => place.pods(), owned: () => owned(place.scope) },
    put: (name, manifest) => place.ok('apply', '-f', place.file(`${name}.yaml`, manifest)),
    remove: (names) => place.ok('delete', 'pod', ...names, '--wait=false'),
    restart: async () => {
      daemon.child.kill('SIGKILL');
      await daemon.ended().catch(() => undefined);
      daemon = await place.startDaemon('node');
    },
  };
}

const owned = (scope: Parameters<typeof takeInventory>[0]) => {
  const { cgroups, rules } = takeInventory(scope);
  return [...cgroups, ...rules];
};

const mainOf = (pod: Pod) => pod.status?.containerStatuses?.[0];
/** Returns the container IDs and restart counts of the pods that are never removed. */
const staying = async (side: Side) => {
  const pods = (await side.pods()).filter(({ metadata }) => metadata.name.startsWith('stays'));
  return pods.map((pod) => `${mainOf(pod)?.containerID} ${mainOf(pod)?.restartCount}`).sort();
};

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  await waitFor(async () => (await holds()) || undefined, { intervalMs: 200, signal }).catch(() => assert.fail(what));
}

const WEB = 'echo page > /index.html; trap "exit 0" TERM; httpd -f -p 8080 -h / & wait';
const runs = (pods: Pod[], prefix: string) =>
  pods.filter(({ metadata, status }) => metadata.name.startsWith(prefix) && status?.phase === 'Running').length;

async function begin(side: Side): Promise<void> {
  const ports = `    ports: [{containerPort: 8080, hostPort: ${side.port}}]\n`;
  await side.put('stays-web', podManifest('stays-web', WEB) + ports);
  for (const index of [1, 2, 3]) await side.put(`stays-${index}`, podManifest(`stays-${index}`, forever));
  await until(`the pods of ${side.name} run`, async () => runs(await side.pods(), 'stays') === 4);
}

/** Adds pods, half of which crash, and removes them once the other half are running. */
async function churn(side: Side, round: number): Promise<void> {
  const names = Array.from({ length: COMING }, (_, index) => `comes-${round}-${index}`);
  for (const [index, name] of names.entries())
    await side.put(name, podManifest(name, index % 2 === 0 ? forever : 'exit 1'));
  const isOne = round % 2 === 0 ? side.name === 'ours' : side.name === 'upstream';
  if (isOne) await side.restart();
  await until(
    `half of round ${round} runs on ${side.name}`,
    async () => runs(await side.pods(), `comes-`) >= COMING / 2,
  );
  await side.remove(names);
  await until(`round ${round} is removed from ${side.name}`, async () => (await side.pods()).length === 4);
}

async function assertAsBefore(side: Side, before: { ids: string[]; owned: string[] }): Promise<void> {
  assert.deepEqual(await staying(side), before.ids, side.name);
  const now = new Set(side.owned());
  const lost = before.owned.filter((one) => !now.has(one));
  assert.deepEqual(lost, [], `${side.name} has lost cgroups or rules`);
  const page = await fetch(`http://${nodeAddress()}:${side.port}/index.html`, { signal: AbortSignal.timeout(5000) });
  assert.equal(await page.text(), 'page\n', side.name);
}

const upstream = await openUpstream();
try {
  const sides = [upstream.side, await openOurs()];
  await Promise.all(sides.map(begin));
  const before = await Promise.all(sides.map(async (side) => ({ ids: await staying(side), owned: side.owned() })));
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(sides.map((side) => churn(side, round)));
    for (const [index, side] of sides.entries()) await assertAsBefore(side, before[index]!);
    console.log(`round ${round + 1} of ${ROUNDS}: both kubelets have kept their pods`);
  }
} finally {
  await place.remove();
  bundle.remove();
  await upstream.stop();
  await runtime.stop().catch(console.error);
  await removeCgroup(await discoverCgroups(), cgroupRoot);
}
