import type { Logger } from '@podwright/base';
import {
  apiReference,
  CONFIG_CONTENT_ANNOTATION,
  CONFIG_FILE_ANNOTATION,
  CONFIG_SEEN_ANNOTATION,
  type ExistingPod,
  formatFieldPath,
  ignoredFields,
  immutableProblems,
  type LocalObject,
  type LocalObjects,
  ManifestError,
  namespacedName,
  type PlacedObject,
  type Pod,
  type PodSourceName,
  type PodUpdate,
  type PodUpdateOperation,
  qosClass,
  type RuntimeClass,
  withoutDuplicates,
} from '@podwright/kube-api';
import { PodClaims } from './pod-claims.ts';
import { withRuntimeClass } from './runtime-class-pod.ts';
import { identifyPod } from './static-pod.ts';

/**
 * All objects of a source at one point in time, the errors of objects that could not be decoded, and warnings about skipped objects and
 * fields.
 */
export type SourceSnapshot = { objects: PlacedObject[]; errors: ManifestError[]; warnings: ManifestError[] };

export type PodConfigOptions = {
  /** The sources that will report. If two new pods have the same name, the one from the source listed first wins. */
  sources: PodSourceName[];
  nodeName: string;
  objects: LocalObjects;
  /** Returns the pods in the container runtime. They keep their names and UIDs across a kubelet restart. */
  runningPods: () => ExistingPod[];
  /**
   * Whether the node is part of a cluster. If so, the node name is appended to pod names, and pods must not reference API objects. Default:
   * false.
   */
  ofCluster?: boolean;
  logger: Logger;
};

type Claim = { placed: PlacedObject; pod: Pod; source: PodSourceName; rank: number };
type Desired = { pod: Pod; source: PodSourceName };

/**
 * Merges the sources into one set of desired pods, and notifies listeners of changes. ConfigMaps, Secrets and RuntimeClasses from the
 * sources are stored in `LocalObjects` first, because pods may need them.
 */
export class PodConfig {
  readonly #options: PodConfigOptions;
  readonly #snapshots = new Map<PodSourceName, SourceSnapshot>();
  readonly #listeners = new Set<(update: PodUpdate) => void>();
  /** Caches the results of `identifyPod` by decoded object, so that unchanged manifests cost nothing. */
  readonly #identified = new WeakMap<object, Pod>();
  #desired = new Map<string, Desired>();
  #errors: ManifestError[] = [];
  #logged = new Set<string>();

  constructor(options: PodConfigOptions) {
    this.#options = options;
  }

  /** Sets a source's full content. Each source calls this on startup and after each change. */
  set(source: PodSourceName, snapshot: SourceSnapshot): void {
    this.#snapshots.set(source, snapshot);
    const errors: ManifestError[] = [];
    const { pods, localObjects } = this.#merge(errors);
    this.#report(errors);
    this.#options.objects.replace(localObjects);
    this.#publish(pods);
  }

  /** Calls `listener` with an ADD of the current pods, then with each change. The returned function unsubscribes. */
  onUpdate(listener: (update: PodUpdate) => void): () => void {
    for (const update of changes(new Map(), this.#desired)) listener(update);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns the desired pods from all sources. */
  pods(): Pod[] {
    return [...this.#desired.values()].map(({ pod }) => pod);
  }

  /** Returns the current errors in the manifests. */
  errors(): ManifestError[] {
    return this.#errors;
  }

  #merge(errors: ManifestError[]): { pods: Map<string, Desired>; localObjects: LocalObject[] } {
    const pods = new Map<string, Desired>();
    const placed: PlacedObject[] = [];
    const claimOf = new Map<PlacedObject, Claim>();
    const claims = new PodClaims(this.pods().map(existingPod), this.#options.runningPods());
    for (const source of this.#options.sources) {
      const snapshot = this.#snapshots.get(source);
      for (const error of snapshot?.errors ?? []) errors.push(error);
      for (const one of snapshot?.objects ?? []) {
        placed.push(one);
        const pod = this.#identify(one, source);
        if (pod !== undefined && this.#isAllowed(one, pod, errors))
          claimOf.set(one, { placed: one, pod, source, rank: claims.rank(pod, one.file) });
      }
    }
    const rank = (one: PlacedObject) => claimOf.get(one)?.rank ?? 0;
    const unique = withoutDuplicates(
      placed.toSorted((a, b) => rank(a) - rank(b)),
      errors,
    );
    const localObjects = unique.flatMap((one) => this.#localObject(one, errors));
    const classes = new Map(
      localObjects.filter((object) => object.kind === 'RuntimeClass').map((object) => [object.metadata.name, object]),
    );
    for (const one of unique) {
      const claim = claimOf.get(one);
      const pod = claim && classedPod(claim, classes, errors);
      if (pod !== undefined) this.#addPod(pods, { ...claim!, pod, holder: claims.holderOfUid(pod) }, errors);
    }
    return { pods, localObjects };
  }

  #isAllowed(placed: PlacedObject, { spec }: Pod, errors: ManifestError[]): boolean {
    const reference = this.#options.ofCluster === true ? apiReference(spec) : undefined;
    if (reference !== undefined)
      errors.push(new ManifestError({ ...placed, path: 'spec' }, `static pods may not reference ${reference}`));
    return reference === undefined;
  }

  /** Returns the object from the manifest, or the stored version if that is immutable. */
  #localObject(placed: PlacedObject, errors: ManifestError[]): LocalObject[] {
    const { object } = placed;
    if (object.kind === 'Pod') return [];
    const before = this.#options.objects.get(object.kind, object.metadata.namespace, object.metadata.name);
    const problems = immutableProblems(before, object);
    for (const problem of problems)
      errors.push(new ManifestError(placed, `${problem}; the ${object.kind} stays as it was until it is deleted`));
    return [problems.length > 0 ? before! : object];
  }

  #identify(placed: PlacedObject, source: PodSourceName): Pod | undefined {
    const { object } = placed;
    if (object.kind !== 'Pod') return undefined;
    const { nodeName, ofCluster } = this.#options;
    const identified =
      this.#identified.get(placed) ??
      this.#seenBefore(identifyPod({ ...placed, object }, { source, nodeName, ofCluster, seenAtMs: Date.now() }));
    this.#identified.set(placed, identified);
    return identified;
  }

  /** Returns the pod with its previous config.seen annotation, which must not change on an update. */
  #seenBefore(pod: Pod): Pod {
    const { metadata } = pod;
    const seen = this.#desired.get(metadata.uid)?.pod.metadata.annotations?.[CONFIG_SEEN_ANNOTATION];
    if (seen === undefined) return pod;
    return {
      ...pod,
      metadata: { ...metadata, annotations: { ...metadata.annotations, [CONFIG_SEEN_ANNOTATION]: seen } },
    };
  }

  /** Adds a pod. If several pods have the same UID, the first one wins. */
  #addPod(
    pods: Map<string, Desired>,
    { placed, pod, source, holder }: Claim & { holder: ExistingPod | undefined },
    errors: ManifestError[],
  ): void {
    const { uid } = pod.metadata;
    // until all sources have been read, the pod that owns the UID may still appear in one of them
    const undecided = holder !== undefined && this.#options.sources.some((name) => !this.#snapshots.has(name));
    const other = pods.get(uid)?.pod.metadata ?? (undecided ? holder : undefined);
    if (other === undefined) pods.set(uid, { pod, source });
    else {
      const message = `UID ${uid} is already that of pod ${other.namespace}/${other.name}; leave it out`;
      errors.push(new ManifestError({ ...placed, path: 'metadata.uid' }, message));
    }
  }

  /** Logs each error and warning once, and again only if it was resolved in between. */
  #report(errors: ManifestError[]): void {
    this.#errors = errors;
    const logged = new Set<string>();
    for (const error of [...errors, ...this.#warnings()]) {
      const { file, line, column, path } = error;
      logged.add(String(error));
      if (!this.#logged.has(String(error))) this.#options.logger.warn({ file, line, column, path }, String(error));
    }
    this.#logged = logged;
  }

  /** Returns warnings about objects skipped in manifests, and about pod fields that only a cluster uses. */
  #warnings(): ManifestError[] {
    return [...this.#snapshots.values()].flatMap(({ objects, warnings }) => [
      ...warnings,
      ...objects.flatMap((placed) => ignoredIn(placed, this.#options.nodeName)),
    ]);
  }

  #publish(pods: Map<string, Desired>): void {
    const before = this.#desired;
    this.#desired = pods;
    for (const update of changes(before, pods)) {
      for (const listener of this.#listeners) listener(update);
    }
  }
}

function ignoredIn(placed: PlacedObject, nodeName: string): ManifestError[] {
  if (placed.object.kind !== 'Pod') return [];
  return ignoredFields(placed.object, nodeName).map(
    ({ path, message }) => new ManifestError({ ...placed, path: formatFieldPath(path) }, message),
  );
}

/**
 * Returns the updates that turn one set of desired pods into another, removals first. A pod with the same UID but a new name is a different
 * pod. So is a pod whose QoS class changes, because it needs a different cgroup.
 */
function changes(before: Map<string, Desired>, after: Map<string, Desired>): PodUpdate[] {
  const isSamePod = (uid: string) => {
    const [old, now] = [before.get(uid), after.get(uid)];
    if (old === undefined || now === undefined) return false;
    return namespacedName(old.pod) === namespacedName(now.pod) && qosClass(old.pod) === qosClass(now.pod);
  };
  const removed = [...before].filter(([uid]) => !isSamePod(uid)).map(([, desired]) => desired);
  const updated = [...after]
    .filter(([uid, desired]) => isSamePod(uid) && differs(before.get(uid)!, desired))
    .map(([, desired]) => desired);
  const added = [...after].filter(([uid]) => !isSamePod(uid)).map(([, desired]) => desired);
  return [...bySource('REMOVE', removed), ...bySource('UPDATE', updated), ...bySource('ADD', added)];
}

/**
 * Applies the pod's RuntimeClass (overhead, node selector, tolerations). Returns the pod unchanged if it does not name a class or the class
 * does not exist yet. If the pod and its class conflict, returns `undefined` and adds an error to `errors`.
 */
function classedPod(
  { placed, pod }: Claim,
  classes: ReadonlyMap<string, RuntimeClass>,
  errors: ManifestError[],
): Pod | undefined {
  const runtimeClass = classes.get(pod.spec.runtimeClassName ?? '');
  if (runtimeClass === undefined) return pod;
  const classed = withRuntimeClass(pod, runtimeClass);
  if ('pod' in classed) return classed.pod;
  errors.push(new ManifestError({ ...placed, path: classed.path }, classed.problem));
  return undefined;
}

/** Whether the manifest's content or any field set by the RuntimeClass differs. */
function differs(before: Desired, after: Desired): boolean {
  const content = ({ pod: { metadata, spec } }: Desired) =>
    JSON.stringify([
      metadata.annotations?.[CONFIG_CONTENT_ANNOTATION],
      spec.overhead,
      spec.nodeSelector,
      spec.tolerations,
    ]);
  return before.pod !== after.pod && content(before) !== content(after);
}

/** Reduces a pod from a source to the fields that `PodClaims` compares. */
export function existingPod({ metadata }: Pod): ExistingPod {
  const { uid, namespace, name, annotations } = metadata;
  return { uid, namespace, name, file: annotations?.[CONFIG_FILE_ANNOTATION] ?? '' };
}

function bySource(operation: PodUpdateOperation, desired: Desired[]): PodUpdate[] {
  const sources = [...new Set(desired.map(({ source }) => source))];
  return sources.map((source) => ({
    operation,
    source,
    pods: desired.filter((one) => one.source === source).map(({ pod }) => pod),
  }));
}
