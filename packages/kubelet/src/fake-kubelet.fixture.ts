import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import { FakeRuntime } from '@podwright/cri/testing';
import { decodeManifest, LocalObjects, type Pod } from '@podwright/kube-api';
import { DEFAULT_EVICTION } from '@podwright/kubelet-configuration';
import { PodConfig, startPodSources } from '@podwright/pod-config';
import type { KubeletParts } from './assembly/kubelet-parts.ts';
import type { Kubelet } from './kubelet.ts';
import { type KubeletOptions, kubeletOptions } from './options.ts';
import { ProbeResults } from './prober/probe-results.ts';
import { startKubelet } from './start-kubelet.ts';

/** Timeout for waits; long enough for a busy host. */
const PATIENCE_MS = 10_000;

/** A kubelet on an in-memory container runtime. Its manifests are strings. */
export type FakeKubelet = {
  runtime: FakeRuntime;
  handle: Kubelet;
  liveness: ProbeResults;
  answers: { readiness: ProbeResults; startup: ProbeResults };
  /** UIDs of pods with mounted volumes. */
  mounted: Set<string>;
  /** Replaces the content of the manifest directory. */
  apply: (manifest: string) => void;
  /** Waits until `holds` returns true for the pod with this name, then resolves with that pod. */
  pod: (name: string, holds: (pod: Pod) => boolean) => Promise<Pod>;
  until: (what: string, holds: () => boolean) => Promise<void>;
  /** Returns the reasons of the pod's events, in order. */
  reasons: (name: string) => string[];
  /**
   * Stops the kubelet and starts another one on the same container runtime. `manifest`, if given, replaces the applied manifest in between.
   */
  restart: (manifest?: string) => Promise<void>;
  close: () => Promise<void>;
};

type FakeKubeletOptions = {
  runtime?: FakeRuntime;
  manifest?: string;
  untilReady?: boolean;
  /** Reads manifests from `manifestDir`, ignoring `manifest` and `apply`. */
  readsDirectory?: boolean;
};

export async function startFakeKubelet(
  options: Partial<KubeletOptions> & FakeKubeletOptions = {},
): Promise<FakeKubelet> {
  const { runtime = new FakeRuntime({ images: ['busybox:1'] }), manifest = '', ...others } = options;
  const { untilReady = true, readsDirectory = false, ...given } = others;
  const scratch = mkdtempSync(join(tmpdir(), 'pwk-fake-'));
  const kubelet = kubeletOptions({
    manifestDir: join(scratch, 'manifests'),
    runtimeEndpoint: '/none',
    nodeName: 'node',
    logger: silentLogger,
    rootDir: scratch,
    podLogsDir: join(scratch, 'logs'),
    cgroupRoot: '',
    nodeIp: '192.0.2.1',
    relist: { periodMs: 50, eventedPeriodMs: 1000 },
    crashLoopBackoff: { initialMs: 100, maxMs: 400 },
    eviction: { ...DEFAULT_EVICTION, hard: {} }, // independent of the host's disk usage
    ...given,
  });
  const config: { current?: PodConfig; text: string } = { text: manifest };
  const liveness = new ProbeResults();
  const mounted = new Set<string>();
  const newAnswers = () => ({ readiness: new ProbeResults(), startup: new ProbeResults() });
  const start = (answers: FakeKubelet['answers']) =>
    startKubelet(kubelet, {
      cri: runtime.client,
      ...fakeParts({ config, liveness, answers, mounted, kubelet, readsDirectory }),
    });
  const answers = newAnswers();
  const fake: FakeKubelet = {
    runtime,
    handle: await start(answers),
    liveness,
    answers,
    mounted,
    apply: (text) => {
      config.text = text;
      config.current!.set('file', snapshot(text));
    },
    pod: async (name, holds) => {
      const find = () => fake.handle.pods().find((pod) => pod.metadata.name === name && holds(pod));
      using signal = withTimeout(undefined, PATIENCE_MS, `wait for pod ${name}`);
      return await waitFor(find, { intervalMs: 2, signal });
    },
    until: async (what, holds) => {
      using signal = withTimeout(undefined, PATIENCE_MS, what);
      await waitFor(() => holds() || undefined, { intervalMs: 2, signal });
    },
    reasons: (name) =>
      fake.handle.events().flatMap(({ involvedObject, reason }) => (involvedObject.name === name ? [reason] : [])),
    restart: async (text = config.text) => {
      await fake.handle.close();
      config.text = text;
      fake.answers = newAnswers();
      fake.handle = await start(fake.answers);
      if (untilReady) await fake.handle.sourcesReady;
    },
    close: async () => {
      await fake.handle.close();
      await rm(scratch, { recursive: true, force: true });
    },
  };
  if (untilReady) await fake.handle.sourcesReady;
  return fake;
}

function snapshot(text: string) {
  const { objects, errors } = decodeManifest(text, { file: 'test.yaml' });
  if (text !== '' && errors.length > 0) throw new Error(errors.join('\n'));
  return { objects, errors: [], warnings: [] };
}

type Shared = {
  config: { current?: PodConfig; text: string };
  liveness: ProbeResults;
  answers: FakeKubelet['answers'];
  mounted: Set<string>;
  kubelet: KubeletOptions;
  readsDirectory: boolean;
};

function fakeParts({
  config,
  liveness,
  answers,
  mounted,
  kubelet,
  readsDirectory,
}: Shared): Omit<KubeletParts, 'claims' | 'nodePlugins'> {
  const objects = new LocalObjects();
  const ignore = () => undefined;
  return {
    objects,
    podObjects: objects,
    volumes: {
      mountForPod: async (pod) => {
        mounted.add(pod.metadata.uid);
        return { paths: new Map(), failures: [], complete: true };
      },
      prepareSubPath: async () => '',
      pathsOf: () => new Map(),
      unmountForPod: async (uid) => void mounted.delete(uid),
      removeForPod: async (uid) => void mounted.delete(uid),
      removeOrphans: async () => [],
      close: async () => undefined,
    },
    probes: {
      liveness,
      ...answers,
      update: ignore,
      stopLiveness: ignore,
      remove: ignore,
      stop: ignore,
    },
    hooks: { run: async () => undefined },
    prepare: async ({ container }) => ({
      environment: [],
      command: container.command ?? [],
      args: container.args ?? [],
      mounts: [],
    }),
    startSources: ({ onUpdate, runningPods }) => {
      if (readsDirectory)
        return startPodSources({
          ...{ manifestUrl: undefined, savedManifestsDir: join(kubelet.rootDir, 'valid-manifests') },
          ...{ ...kubelet, onUpdate, runningPods, objects },
        });
      config.current = new PodConfig({
        sources: ['file'],
        nodeName: 'node',
        ofCluster: kubelet.cluster !== undefined,
        objects,
        runningPods,
        logger: silentLogger,
      });
      config.current.set('file', snapshot(config.text));
      const { current } = config;
      const stop = current.onUpdate(onUpdate);
      return { ready: Promise.resolve(), errors: () => current.errors(), stop: async () => stop() };
    },
  };
}
