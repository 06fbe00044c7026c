/** The kubelet's core, wired as in `start-kubelet.ts`, in a simulated environment. */
import { silentLogger } from '@podwright/base';
import { type CriClient, noSpanExporter } from '@podwright/cri';
import { LocalObjects, type PlacedObject } from '@podwright/kube-api';
import { NodePressure } from '@podwright/kubelet-configuration';
import { PodConfig } from '@podwright/pod-config';
import type { PodVolumes } from '@podwright/volumes';
import type { KubeletParts } from '../assembly/kubelet-parts.ts';
import { removeOrphans } from '../assembly/orphans.ts';
import { createPodSync, type PodSync } from '../assembly/pod-sync.ts';
import { resourceCheckpoints } from '../assembly/resource-checkpoints.ts';
import { noPodCgroups, type PodCgroups } from '../cgroups/pod-cgroups.ts';
import { collectContainers } from '../gc/container-gc.ts';
import { fakeNode } from '../kuberuntime/dependencies.fixture.ts';
import { RuntimeFeatures } from '../kuberuntime/runtime-features.ts';
import { kubeletOptions } from '../options.ts';
import { PodStatusCache } from '../pleg/pod-status-cache.ts';
import { ProbeResults } from '../prober/probe-results.ts';
import { StatusManager } from '../status/status-manager.ts';
import { STATUS_RECORD_DELAY_MS, type StatusRecord } from '../status/status-records.ts';
import { PodTracer } from '../trace/pod-tracer.ts';
import { type KubeletLife, never, type Stages } from './stages.fixture.ts';

/** State of the node outside the container runtime that outlives a kubelet process. */
export type NodeState = {
  /** By pod UID: whether the pod's volumes are mounted. If `unmounted`, only its volume directories exist. */
  volumes: Map<string, 'mounted' | 'unmounted'>;
  cgroups: Set<string>;
  records: Map<string, StatusRecord>;
  /** UIDs of all pods that have ever had a status record. */
  recorded: Set<string>;
};

export type CoreInput = {
  directory: string;
  life: KubeletLife;
  cri: CriClient;
  stages: Stages;
  node: NodeState;
  /** Returns the pods in the kubelet's pod source. */
  desired: () => PlacedObject[];
  /** Called before a pod's volumes are unmounted. */
  onUnmount: (podUid: string) => void;
  onStatuses: (statuses: StatusManager) => void;
};

export type KubeletCore = {
  sync: PodSync;
  probes: Pick<KubeletParts['probes'], 'liveness' | 'readiness' | 'startup'>;
  /** Must be called when the pods in the kubelet's pod source have changed. */
  applyDesired: () => void;
};

/** Starts the core. Rejects if the runtime is down, like a real kubelet. */
export async function startCore(input: CoreInput): Promise<KubeletCore> {
  const { directory, cri, node, life } = input;
  const options = kubeletOptions({
    manifestDir: '/none',
    runtimeEndpoint: '/none',
    nodeName: 'node',
    logger: silentLogger,
    rootDir: directory,
    podLogsDir: directory,
    cgroupRoot: '',
    resolvConf: '',
    relist: { periodMs: 3000, eventedPeriodMs: 20_000 },
    crashLoopBackoff: { initialMs: 1000, maxMs: 8000 },
  });
  options.images = { ...options.images, pullBackoff: { initialMs: 1000, maxMs: 8000 }, dockerConfigPaths: [] };
  const statuses = new StatusManager(new Map(node.records), records(input));
  input.onStatuses(statuses);
  const events = { event: () => undefined };
  const parts = coreParts(input);
  const cgroups = coreCgroups(input);
  const sync: PodSync = createPodSync({
    ...{ options, cri, events, parts, cgroups, statuses, cache: new PodStatusCache() },
    resources: { cpu: 64_000n, memory: 1n << 36n },
    grants: NO_GRANTS,
    host: fakeNode().host,
    strictGroups: true,
    features: new RuntimeFeatures(cri),
    tracer: new PodTracer(noSpanExporter),
    checkpoints: resourceCheckpoints(),
    obstacles: {
      runtimeErrors: () => [],
      networkError: () => undefined,
      abilities: () => undefined,
      noteListing: (works) => void (works && sync.workers.retryAll()),
    },
    shutdown: { refusal: () => undefined },
    ...{ hostIps: () => ['192.0.2.1'], addresses: ['192.0.2.1'] },
    pressure: new NodePressure(),
    runtimeName: 'fake',
  });
  await sync.pleg.start();
  const { liveness, readiness, startup } = parts.probes;
  for (const results of [liveness, readiness, startup]) results.onChange((update) => sync.loop.handleProbe(update));
  const config = startSource(input, sync, parts.objects);
  const orphans = {
    sync,
    volumes: parts.volumes,
    cgroups,
    grants: NO_GRANTS,
    podLogsDir: directory,
    logger: silentLogger,
  };
  await removeOrphans(orphans, new Set());
  void keepUp({ life, cri, sync, orphanPeriodMs: options.orphanPeriodMs });
  const applyDesired = () => config.set('file', snapshot(input.desired()));
  return { sync, probes: { liveness, readiness, startup }, applyDesired };
}

/** Stub for the allocation of exclusive resources, which no simulated pod requests. */
const NO_GRANTS = {
  admit: async () => undefined,
  prepare: async () => undefined,
  unprepare: async () => undefined,
  healthOf: () => [],
  release: async () => undefined,
  admissible: () => ({}),
  keepOnly: async () => undefined,
};

function startSource({ desired }: CoreInput, sync: PodSync, objects: LocalObjects): PodConfig {
  const config = new PodConfig({
    sources: ['file'],
    nodeName: 'node',
    objects,
    runningPods: () => sync.cache.list().flatMap(({ sandboxes }) => sandboxes.slice(0, 1).map(({ owner }) => owner)),
    logger: silentLogger,
  });
  config.set('file', snapshot(desired()));
  config.onUpdate((update) => {
    if (update.operation === 'UPDATE') for (const pod of update.pods) sync.statuses.relabel(pod);
    sync.loop.handlePods(update);
  });
  return config;
}

function snapshot(objects: PlacedObject[]) {
  return { objects, errors: [], warnings: [] };
}

type Upkeep = { life: KubeletLife; cri: CriClient; sync: PodSync; orphanPeriodMs: number };

/** Periodically runs the pod-related part of the kubelet's housekeeping. */
async function keepUp({ life, cri, sync, orphanPeriodMs }: Upkeep): Promise<void> {
  while (!life.dead) {
    await new Promise<void>((resolve) => setTimeout(resolve, orphanPeriodMs));
    sync.loop.endOrphans(new Set());
    sync.crashBackoff.collectGarbage();
    const policy = { maxPerContainer: 1, maxContainers: -1, minAgeMs: 0 };
    await collectContainers({ cri, logger: silentLogger, policy }, sync.cache.list());
  }
}

/** A fake `StatusRecords` that, like the real one, writes records with a delay. */
function records({ life, node }: CoreInput) {
  const latest = new Map<string, StatusRecord>();
  const write = (change: () => void, delayMs: number) => {
    if (delayMs === 0) change();
    else setTimeout(change, delayMs);
  };
  return {
    save: (uid: string, record: StatusRecord) => {
      const ended = record.status.phase === 'Succeeded' || record.status.phase === 'Failed';
      const apply = () => {
        if (latest.get(uid) === record) node.records.set(uid, record);
        node.recorded.add(uid);
      };
      latest.set(uid, record);
      if (!life.dead) write(apply, ended ? 0 : STATUS_RECORD_DELAY_MS);
    },
    delete: (uid: string) => {
      latest.delete(uid);
      if (!life.dead) write(() => latest.has(uid) || node.records.delete(uid), STATUS_RECORD_DELAY_MS);
    },
  };
}

function coreParts(input: CoreInput): Omit<KubeletParts, 'claims' | 'nodePlugins'> {
  const { life, stages } = input;
  const ignore = () => undefined;
  const probes = { liveness: new ProbeResults(), readiness: new ProbeResults(), startup: new ProbeResults() };
  const stage = (name: string, work: () => void, signal?: AbortSignal) =>
    stages.pass({ life, stage: name, signal, timeoutMs: 30_000 }, async () => work());
  const objects = new LocalObjects();
  return {
    objects,
    podObjects: objects,
    volumes: coreVolumes(input, stage),
    probes: {
      ...probes,
      update: ignore,
      stopLiveness: ignore,
      remove: ignore,
      stop: ignore,
    },
    hooks: { run: (_request, signal) => stage('hook', ignore, signal) },
    prepare: async ({ container }, signal) => {
      await stage('prepare', ignore, signal);
      return { environment: [], command: container.command ?? [], args: container.args ?? [], mounts: [] };
    },
    startSources: () => ({ ready: never(), errors: () => [], stop: async () => undefined }),
  };
}

type Stage = (name: string, work: () => void, signal?: AbortSignal) => Promise<void>;

function coreVolumes({ node: { volumes }, onUnmount }: CoreInput, stage: Stage): PodVolumes {
  const remove = (uid: string) => {
    if (volumes.get(uid) === 'mounted') onUnmount(uid);
    volumes.delete(uid);
  };
  return {
    mountForPod: async ({ metadata: { uid } }, signal) => {
      await stage('mountVolumes', () => volumes.set(uid, 'mounted'), signal);
      return { paths: new Map(), failures: [], complete: true };
    },
    prepareSubPath: async () => '',
    pathsOf: () => new Map(),
    unmountForPod: (uid) =>
      stage('unmountVolumes', () => {
        if (volumes.get(uid) === 'mounted') onUnmount(uid);
        if (volumes.has(uid)) volumes.set(uid, 'unmounted');
      }),
    removeForPod: (uid) => stage('removeVolumes', () => remove(uid)),
    removeOrphans: async (isKnown) => {
      const orphans = [...volumes.keys()].filter((uid) => !isKnown(uid));
      await stage('removeOrphanedVolumes', () => orphans.forEach(remove));
      return orphans;
    },
    close: async () => undefined,
  };
}

function coreCgroups({ life, stages, node: { cgroups } }: CoreInput): PodCgroups {
  const stage = (name: string, work: () => void) =>
    stages.pass({ life, stage: name, timeoutMs: 30_000 }, async () => work());
  return {
    ...noPodCgroups,
    ensure: ({ metadata }) => stage('makeCgroup', () => cgroups.add(metadata.uid)),
    remove: (uid) => stage('removeCgroup', () => cgroups.delete(uid)),
    removeOrphans: async (keep) => {
      for (const uid of cgroups) if (!keep.has(uid)) cgroups.delete(uid);
    },
  };
}
