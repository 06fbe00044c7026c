import { mkdirSync, mkdtempSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger, waitFor, withTimeout } from '@podwright/base';
import { discoverCgroups, listChildCgroups, removeCgroup } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { type Kubelet, type KubeletOptions, kubeletOptions, startKubelet } from '@podwright/kubelet';
import { DEFAULT_EVICTION } from '@podwright/kubelet-configuration';
import { type LogSource, readContainerLog } from '../../packages/kubelet/src/logs/container-logs.ts';
import type { SuiteRuntime } from './suite-runtime.fixture.ts';

/** Generous timeout, to allow for a busy host. */
const PATIENCE_MS = 30_000;

/** A kubelet with its own manifest directory, on a real runtime. */
export type RealKubelet = {
  options: KubeletOptions;
  handle: Kubelet;
  apply: (file: string, manifest: string) => Promise<void>;
  remove: (file: string) => Promise<void>;
  pod: (name: string, holds: (pod: Pod) => boolean) => Promise<Pod>;
  until: (what: string, holds: () => boolean | Promise<boolean>) => Promise<void>;
  /** Returns the complete lines of a container's output, without the log format's other fields. */
  log: (pod: Pod, container?: string) => Promise<string[]>;
  podCgroups: () => Promise<string[]>;
  /** Stops the kubelet and starts a new one with the same options. */
  restart: () => Promise<void>;
  /** Removes all pods, stops the kubelet and deletes its files. */
  close: () => Promise<void>;
};

export async function startRealKubelet(
  runtime: Pick<SuiteRuntime, 'bridge' | 'endpoint' | 'scratch'>,
  given: Partial<KubeletOptions> = {},
): Promise<RealKubelet> {
  const scratch = mkdtempSync(join(runtime.scratch, 'kubelet-'));
  const options = kubeletOptions({
    nodeName: 'node',
    runtimeEndpoint: runtime.endpoint,
    manifestDir: join(scratch, 'manifests'),
    rootDir: join(scratch, 'root'),
    podLogsDir: join(scratch, 'logs'),
    cgroupRoot: `/${runtime.bridge}-${scratch.slice(-6)}`,
    logger: createLogger({ level: 'error' }),
    eviction: { ...DEFAULT_EVICTION, hard: {} }, // a full disk of the host must not evict pods
    ...given,
  });
  mkdirSync(options.manifestDir, { recursive: true });
  const kubelet: RealKubelet = {
    options,
    handle: await startKubelet(options),
    apply: async (file, manifest) => {
      await writeFile(join(options.manifestDir, `.${file}`), manifest);
      await rename(join(options.manifestDir, `.${file}`), join(options.manifestDir, file));
    },
    remove: (file) => rm(join(options.manifestDir, file)),
    pod: async (name, holds) => {
      const find = () => kubelet.handle.pods().find((pod) => pod.metadata.name === name && holds(pod));
      using signal = withTimeout(undefined, PATIENCE_MS, `wait for pod ${name}`);
      return await waitFor(find, { intervalMs: 5, signal }).catch((error: unknown) => {
        throw new Error(`${error}; what happened: ${saidOf(kubelet.handle.events(), name)}`);
      });
    },
    until: async (what, holds) => {
      using signal = withTimeout(undefined, PATIENCE_MS, what);
      await waitFor(async () => (await holds()) || undefined, { intervalMs: 10, signal });
    },
    log: (pod, container = '') => linesOf(kubelet.handle.containerLog(pod, { container, previous: false })),
    podCgroups: () => podCgroups(options.cgroupRoot),
    restart: async () => {
      await kubelet.handle.close();
      kubelet.handle = await startKubelet(options);
      await kubelet.handle.sourcesReady;
    },
    close: () => close(kubelet, scratch),
  };
  await kubelet.handle.sourcesReady;
  return kubelet;
}

async function close({ handle, options }: RealKubelet, scratch: string): Promise<void> {
  await rm(options.manifestDir, { recursive: true, force: true });
  mkdirSync(options.manifestDir);
  await Promise.all(handle.pods().map(({ metadata }) => handle.deletePod(metadata.uid, 0)));
  await handle.close();
  if (options.cgroupRoot !== '') await removeCgroup(await discoverCgroups(), options.cgroupRoot);
  await rm(scratch, { recursive: true, force: true });
}

function saidOf(events: ReturnType<Kubelet['events']>, name: string): string {
  const own = events.filter(({ involvedObject }) => involvedObject.name === name);
  return own.map(({ reason, message }) => `${reason}: ${message}`).join('; ');
}

async function linesOf(place: LogSource): Promise<string[]> {
  const until = { ended: AbortSignal.abort(), signal: AbortSignal.timeout(PATIENCE_MS) };
  const chunks: Buffer[] = [];
  for await (const chunk of readContainerLog(place, {}, until)) chunks.push(chunk);
  return Buffer.concat(chunks).toString().split('\n').slice(0, -1);
}

async function podCgroups(root: string): Promise<string[]> {
  const hierarchy = await discoverCgroups();
  const classes = ['kubepods', 'kubepods/burstable', 'kubepods/besteffort'];
  const names = await Promise.all(classes.map((name) => listChildCgroups(hierarchy, join(root, name))));
  return names.flat().filter((name) => name.startsWith('pod'));
}
