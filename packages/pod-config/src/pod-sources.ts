import { join } from 'node:path';
import { errorMessage, type Logger } from '@podwright/base';
import type { ExistingPod, LocalObjects, ManifestError, PodUpdate } from '@podwright/kube-api';
import { ManifestDirectory } from './manifest-directory.ts';
import { ManifestUrl, type ManifestUrlOptions } from './manifest-url.ts';
import { PodConfig } from './pod-config.ts';
import { SavedManifests } from './saved-manifests.ts';

/** Interval between attempts to read a manifest directory that has not been readable yet. */
const SOURCE_RETRY_MS = 1000;

/** Receives pod updates, and provides the existing pods. */
export type PodSourceListener = {
  onUpdate: (update: PodUpdate) => void;
  /** Returns the pods in the container runtime. */
  runningPods: () => ExistingPod[];
};

export type PodSources = {
  /** Resolves once every source has been read. From then on, pods in the container runtime that belong to no source are orphans. */
  ready: Promise<void>;
  /** Returns the current errors in the manifests. */
  errors: () => ManifestError[];
  stop(): Promise<void>;
};

export type PodSourcesInput = PodSourceListener & {
  manifestDir: string;
  /** Directory that stores the last valid content of the manifest files and of the URL. */
  savedManifestsDir: string;
  manifestUrl: string | undefined;
  manifestUrlHeaders: Record<string, string[]>;
  /** How often the sources are read. */
  sourcePeriods: { fileMs: number; urlMs: number };
  nodeName: string;
  /** Whether the node is part of a cluster. Default: false. */
  ofCluster?: boolean;
  /** Where the ConfigMaps, Secrets and RuntimeClasses from the manifests are stored. */
  objects: LocalObjects;
  logger: Logger;
};

/** Starts reading the manifest directory and URL. The first update from each source contains all of its pods. */
export function startPodSources(input: PodSourcesInput): PodSources {
  const { manifestDir, manifestUrl, manifestUrlHeaders: headers, objects, runningPods, logger } = input;
  const { nodeName, ofCluster, savedManifestsDir } = input;
  const savedOfUrl = new SavedManifests(join(savedManifestsDir, 'url'), logger);
  const { fileMs, urlMs } = input.sourcePeriods;
  const config = new PodConfig({
    sources: manifestUrl === undefined ? ['file'] : ['file', 'http'],
    nodeName,
    ofCluster,
    objects,
    runningPods,
    logger,
  });
  const stop = new AbortController();
  config.onUpdate(input.onUpdate);
  const directory = new ManifestDirectory({
    path: manifestDir,
    logger,
    resyncMs: fileMs,
    retryMs: SOURCE_RETRY_MS,
    saved: new SavedManifests(join(savedManifestsDir, 'files'), logger),
    onChange: (snapshot) => config.set('file', snapshot),
  });
  const fromDirectory = directory.start(stop.signal).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
    return new Promise<never>(() => undefined);
  });
  const fromUrl =
    manifestUrl === undefined
      ? savedOfUrl.clear()
      : readUrl(manifestUrl, { headers, periodMs: urlMs, config, logger, saved: savedOfUrl, signal: stop.signal });
  return {
    ready: Promise.all([fromDirectory, fromUrl]).then(() => undefined),
    errors: () => config.errors(),
    stop: async () => stop.abort(),
  };
}

/** Starts polling a manifest URL. Resolves once the first report, of fetched or saved content, has been passed to `config`. */
function readUrl(
  url: string,
  {
    headers,
    periodMs,
    config,
    logger,
    saved,
    signal,
  }: Pick<ManifestUrlOptions, 'headers' | 'periodMs' | 'logger' | 'saved'> & {
    config: PodConfig;
    signal: AbortSignal;
  },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onChange: ManifestUrlOptions['onChange'] = (snapshot) => {
    config.set('http', snapshot);
    resolve();
  };
  const source = new ManifestUrl({ url, headers, logger, periodMs, saved, onChange });
  source.start(signal).catch((error: unknown) => {
    if (!signal.aborted) logger.error({ url, error: errorMessage(error) }, 'the manifest URL is no longer read');
  });
  return promise;
}
