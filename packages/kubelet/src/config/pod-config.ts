import type { Logger } from '@podwright/base';
import type { LocalObject, Pod } from '../api/types.ts';
import type { LocalObjects } from './local-objects.ts';
import { ManifestError, type PlacedObject, withoutDuplicates } from './manifest.ts';
import { configHashAnnotation, type PodSourceName, type PodUpdate, type PodUpdateOperation } from './pod-update.ts';
import { identifyPod } from './static-pod.ts';

/** Everything that a source holds at one time, and what is wrong with the rest. */
export type SourceSnapshot = { objects: PlacedObject[]; errors: ManifestError[] };

export type PodConfigOptions = {
  /** The sources that will report. Of two pods with one name, the earlier source's wins. */
  sources: PodSourceName[];
  nodeName: string;
  objects: LocalObjects;
  logger: Logger;
};

type Desired = { pod: Pod; source: PodSourceName };

/**
 * Merges the sources into one set of desired pods and tells its listeners what changed, and brings the ConfigMaps, Secrets and
 * RuntimeClasses of the sources into `LocalObjects` before any pod that may need them.
 */
export class PodConfig {
  readonly #options: PodConfigOptions;
  readonly #snapshots = new Map<PodSourceName, SourceSnapshot>();
  readonly #listeners = new Set<(update: PodUpdate) => void>();
  /** Pods by the object they were made from: a manifest that did not change costs nothing. */
  readonly #identified = new WeakMap<object, Pod>();
  #desired = new Map<string, Desired>();
  #errors: ManifestError[] = [];

  constructor(options: PodConfigOptions) {
    this.#options = options;
  }

  /** A source's full content, called by the source itself whenever it changes and once at its start. */
  set(source: PodSourceName, snapshot: SourceSnapshot): void {
    this.#snapshots.set(source, snapshot);
    const errors: ManifestError[] = [];
    const { pods, localObjects } = this.#merge(errors);
    this.#report(errors);
    this.#options.objects.replace(localObjects);
    this.#publish(pods);
  }

  /** Calls `listener` for each change from now on, beginning with an ADD of what is there, until the returned function is called. */
  onUpdate(listener: (update: PodUpdate) => void): () => void {
    for (const update of changes(new Map(), this.#desired)) listener(update);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The desired pods of all sources. */
  pods(): Pod[] {
    return [...this.#desired.values()].map(({ pod }) => pod);
  }

  /** What is wrong with the manifests now. */
  errors(): ManifestError[] {
    return this.#errors;
  }

  #merge(errors: ManifestError[]): { pods: Map<string, Desired>; localObjects: LocalObject[] } {
    const pods = new Map<string, Desired>();
    const localObjects: LocalObject[] = [];
    const sourceOf = new Map<PlacedObject, PodSourceName>();
    for (const source of this.#options.sources) {
      const snapshot = this.#snapshots.get(source);
      for (const error of snapshot?.errors ?? []) errors.push(error);
      for (const placed of snapshot?.objects ?? []) sourceOf.set(placed, source);
    }
    for (const placed of withoutDuplicates([...sourceOf.keys()], errors)) {
      if (placed.object.kind !== 'Pod') localObjects.push(placed.object);
      else this.#addPod(pods, { placed, pod: placed.object, source: sourceOf.get(placed)! }, errors);
    }
    return { pods, localObjects };
  }

  #addPod(
    pods: Map<string, Desired>,
    { placed, pod, source }: { placed: PlacedObject; pod: Pod; source: PodSourceName },
    errors: ManifestError[],
  ): void {
    const known = this.#identified.get(placed);
    const identified = known ?? identifyPod({ ...placed, object: pod }, source, this.#options.nodeName);
    this.#identified.set(placed, identified);
    const { uid } = identified.metadata;
    const other = pods.get(uid)?.pod.metadata;
    if (other === undefined) pods.set(uid, { pod: identified, source });
    else {
      const message = `UID ${uid} is already that of pod ${other.namespace}/${other.name}; leave it out`;
      errors.push(new ManifestError({ ...placed, path: 'metadata.uid' }, message));
    }
  }

  /** Each problem is logged once, as long as it stays. */
  #report(errors: ManifestError[]): void {
    const before = new Set(this.#errors.map(String));
    this.#errors = errors;
    for (const error of errors) {
      const { file, line, column, path } = error;
      if (!before.has(String(error))) this.#options.logger.warn({ file, line, column, path }, String(error));
    }
  }

  #publish(pods: Map<string, Desired>): void {
    const before = this.#desired;
    this.#desired = pods;
    for (const update of changes(before, pods)) {
      for (const listener of this.#listeners) listener(update);
    }
  }
}

/** What leads from one set of desired pods to another: what goes, goes first. */
function changes(before: Map<string, Desired>, after: Map<string, Desired>): PodUpdate[] {
  const removed = [...before].filter(([uid]) => !after.has(uid)).map(([, desired]) => desired);
  const updated = [...after]
    .filter(([uid, desired]) => differs(before.get(uid), desired))
    .map(([, desired]) => desired);
  const added = [...after].filter(([uid]) => !before.has(uid)).map(([, desired]) => desired);
  return [...bySource('REMOVE', removed), ...bySource('UPDATE', updated), ...bySource('ADD', added)];
}

function differs(before: Desired | undefined, after: Desired): boolean {
  const hash = ({ pod }: Desired) => pod.metadata.annotations?.[configHashAnnotation];
  return before !== undefined && before.pod !== after.pod && hash(before) !== hash(after);
}

function bySource(operation: PodUpdateOperation, desired: Desired[]): PodUpdate[] {
  const sources = [...new Set(desired.map(({ source }) => source))];
  return sources.map((source) => ({
    operation,
    source,
    pods: desired.filter((one) => one.source === source).map(({ pod }) => pod),
  }));
}
