import { errorCode, errorMessage, isNotFound, KeyedLock, PodwrightError, waitFor, withTimeout } from '@podwright/base';
import {
  CONFIG_FILE_ANNOTATION,
  decodeManifest,
  isNodeKind,
  type ManifestObject,
  type OtherObject,
  type Pod,
} from '@podwright/kube-api';
import { type ApiResource, ApiResources, pathIn } from './api-resources.ts';
import { configurationOf, isMirror, isUnchanged, withoutResize } from './applied-configuration.ts';
import type { AppliedManifest } from './applied-objects.ts';
import { inApplyOrder, isGround } from './apply-order.ts';
import type { KubernetesApi, KubernetesObject } from './kubernetes-api.ts';
import type { ApplyOptions, ApplyResult } from './local-api.ts';
import { unreachableApi } from './unreachable-api.ts';

/** How long a new namespace may take to get its service account. Until then, it does not accept pods. */
const ACCOUNT_TIMEOUT_MS = 10_000;
/** How long the API may take to serve the kinds of a new CustomResourceDefinition. */
const DEFINITION_TIMEOUT_MS = 10_000;
/** How much longer than its grace period the removal of a replaced pod may take. */
const REMOVAL_TIMEOUT_MS = 120_000;

/** Field manager for applied objects. */
const MANAGER = 'podwright';

type Action = ApplyResult['objects'][number]['action'];
type Named = { kind: string; apiVersion?: string; namespace: string; name: string };
type AnyObject = ManifestObject | OtherObject;

/** The planned effect of an apply on an object. `ending`: the existing pod with the same name, which must be removed first. */
type Plan = {
  named: Named;
  path: string;
  configuration: KubernetesObject;
  action: Action;
  existing?: KubernetesObject;
  ending?: KubernetesObject;
  resize?: object;
};

/**
 * Applies manifests to the node's own Kubernetes API, with the same results as `AppliedObjects` on a node without it: a changed pod is
 * replaced by a new one, unless only its CPU and memory differ. Other objects use server-side apply.
 */
export class ApiObjects {
  readonly #api: KubernetesApi;
  readonly #resources: ApiResources;
  readonly #lock = new KeyedLock();

  constructor(api: KubernetesApi) {
    this.#api = api;
    this.#resources = new ApiResources(api);
  }

  /**
   * Applies a manifest. Throws `invalid_argument` listing every error in the manifest. All objects are validated before the first is
   * written; if a later write fails, the earlier ones remain. Objects of unknown kinds are errors too, unless `leaveOutUnknown` is set.
   */
  apply(
    manifest: string,
    { dryRun = false, replace = true, leaveOutUnknown = false }: ApplyOptions = {},
  ): Promise<AppliedManifest> {
    const decoded = decodeManifest(manifest, { file: 'manifest', otherKinds: true });
    if (decoded.errors.length > 0) throw new PodwrightError('invalid_argument', decoded.errors.map(String).join('\n'));
    const objects = decoded.objects.map(({ object }) => object);
    const others = decoded.others.map(({ object }) => object);
    return this.#lock.run('apply', async () => {
      const unknown = leaveOutUnknown ? await this.#unknownKinds(others) : new Map<AnyObject, string>();
      const all = inApplyOrder<AnyObject>([...objects, ...others].filter((object) => !unknown.has(object)));
      const plans = await this.#plans(all);
      const planOnly = dryRun || (!replace && plans.some(({ action }) => action === 'replaced'));
      if (planOnly || plans.length > 1) for (const plan of plans) await this.#validate(plan);
      const done = planOnly ? [...plans.map(planned), ...unplanned(all, plans)] : await this.#makeAll(plans, all);
      const unreachable = await unreachableApi(others, (path) => this.#find(path));
      const warnings = [...[...decoded.leftOut, ...decoded.warnings].map(String), ...unreachable];
      return { done, planOnly, objects, warnings, unknown: [...unknown.values()] };
    });
  }

  /**
   * Returns the objects whose kind is neither served by the API nor defined by a CustomResourceDefinition in the manifest, each with its
   * error.
   */
  async #unknownKinds(others: readonly OtherObject[]): Promise<Map<AnyObject, string>> {
    const unknown = new Map<AnyObject, string>();
    for (const object of others)
      if (!others.some((definition) => defines(definition, object)))
        await this.#placeOf(object).catch((error: unknown) => {
          if (errorCode(error) !== 'invalid_argument') throw error;
          unknown.set(object, errorMessage(error));
        });
    return unknown;
  }

  #placeOf(object: AnyObject): Promise<ApiResource> {
    return this.#resources.of(object).catch((error: unknown) => {
      if (errorCode(error) !== 'invalid_argument') throw error;
      const what = `apply ${object.kind} ${object.metadata.name}`;
      throw new PodwrightError('invalid_argument', `${what}: ${errorMessage(error)}`);
    });
  }

  /**
   * Plans what to do with each object of a manifest. Skips objects whose kind is not known yet because its CustomResourceDefinition is in
   * the same manifest.
   */
  async #plans(objects: readonly AnyObject[]): Promise<Plan[]> {
    const hasDefinitions = objects.some(({ kind }) => kind === 'CustomResourceDefinition');
    const plans: Plan[] = [];
    for (const object of objects) {
      const plan = await this.#plan(object).catch((error: unknown) => {
        if (!hasDefinitions || errorCode(error) !== 'invalid_argument' || isGround(object)) throw error;
        return undefined;
      });
      if (plan !== undefined) plans.push(plan);
    }
    return plans;
  }

  /**
   * Writes the objects, namespaces and CustomResourceDefinitions first. If any of the other objects could not be planned before, all of the
   * other objects are planned again at that point.
   */
  async #makeAll(plans: Plan[], all: readonly AnyObject[]): Promise<AppliedManifest['done']> {
    const ground = all.filter(isGround);
    const done = [];
    for (const plan of plans.slice(0, ground.length)) done.push(await this.#madeOf(plan));
    const rest = all.slice(ground.length);
    const isComplete = plans.length === all.length;
    for (const plan of isComplete ? plans.slice(ground.length) : await this.#plansOfDefined(rest))
      done.push(await this.#madeOf(plan));
    return done;
  }

  /** Plans objects whose CustomResourceDefinitions have just been written. Retries, because the API needs a moment to serve them. */
  #plansOfDefined(objects: readonly AnyObject[]): Promise<Plan[]> {
    using signal = withTimeout(undefined, DEFINITION_TIMEOUT_MS, 'look up the kinds that the manifest defines');
    let failure: unknown;
    const attempt = async () => {
      this.#resources.forget();
      try {
        return await Promise.all(objects.map((object) => this.#plan(object)));
      } catch (error) {
        if (errorCode(error) !== 'invalid_argument' && !isNotFound(error)) throw error;
        failure = error;
        return undefined;
      }
    };
    return waitFor(attempt, { intervalMs: 20, signal }).catch((error: unknown) => {
      throw failure ?? error;
    });
  }

  async #madeOf(plan: Plan): Promise<AppliedManifest['done'][number]> {
    const { named, action, existing } = plan;
    const object = action === 'unchanged' ? existing : await this.#make(plan);
    return { ...named, ...(hasUid(named) && { uid: object?.metadata.uid }), action };
  }

  async #plan(object: AnyObject): Promise<Plan> {
    const configuration = configurationOf(object);
    const { name } = object.metadata;
    const { namespaced, ...place } = await this.#placeOf(object);
    const namespace = namespaced ? object.metadata.namespace || 'default' : '';
    const path = pathIn({ namespaced, ...place }, namespace, name);
    if (!namespaced) delete configuration.metadata.namespace;
    const apiVersion = isNodeObject(object) ? undefined : object.apiVersion;
    const base = {
      named: { kind: object.kind, ...(apiVersion && { apiVersion }), namespace, name },
      path,
      configuration,
    };
    const existing = await this.#find(path);
    if (existing === undefined) return { ...base, action: 'created' };
    if (isMirror(existing)) throw ofFile(base.named, existing);
    if (isPod(object)) return this.#podPlan({ ...base, existing }, object);
    const after = await this.#applied({ ...base, action: 'replaced', existing }, true);
    return { ...base, existing, action: isUnchanged(existing, after) ? 'unchanged' : 'replaced' };
  }

  async #podPlan(base: Omit<Plan, 'action'> & { existing: KubernetesObject }, wanted: Pod): Promise<Plan> {
    const { existing } = base;
    if (existing.metadata.deletionTimestamp !== undefined)
      return { ...base, existing: undefined, ending: existing, action: 'created' };
    const difference = await this.#difference(base, existing);
    if (difference === 'none') return { ...base, action: 'unchanged' };
    if (difference === 'metadata') return { ...base, action: 'configured' };
    const { pod, resize } = withoutResize(wanted, existing as unknown as Pod);
    const resized: Plan = { ...base, action: 'resized', resize };
    const others = await this.#difference({ ...base, configuration: pod }, existing);
    if (others === 'none' && (await this.#canResize(resized))) return resized;
    return { ...base, action: 'replaced', ending: existing };
  }

  /**
   * Returns what an apply would change in the pod. If the API rejects the apply because it would change immutable fields, returns `spec`.
   */
  async #difference(plan: Omit<Plan, 'action'>, existing: KubernetesObject): Promise<'none' | 'metadata' | 'spec'> {
    const after = await this.#applied({ ...plan, action: 'unchanged' }, true).catch(refusedAsInvalid);
    if (after === undefined) return 'spec';
    if (isUnchanged(existing, after)) return 'none';
    return isUnchanged(existing, { ...after, metadata: existing.metadata }) ? 'metadata' : 'spec';
  }

  async #canResize(plan: Plan): Promise<boolean> {
    return (await this.#resize(plan, true).catch(refusedAsInvalid)) !== undefined;
  }

  /**
   * Validates a plan with a dry run, unless it replaces a pod. An object in a namespace that does not exist yet cannot be validated this
   * way.
   */
  async #validate(plan: Plan): Promise<void> {
    if (plan.action !== 'created' || plan.ending !== undefined) return;
    await this.#applied(plan, true).catch((error: unknown) => {
      if (!isNotFound(error) && !isWithoutAccount(error)) throw error;
    });
  }

  async #make(plan: Plan): Promise<KubernetesObject> {
    const { action, existing, ending, named } = plan;
    if (action === 'resized') return this.#resize(plan, false);
    if (ending !== undefined) await this.#end(plan, ending);
    if (existing === undefined && named.namespace !== '') await this.#ensureNamespace(named.namespace);
    if (named.kind !== 'Pod') return this.#applied(plan, false);
    using signal = withTimeout(undefined, ACCOUNT_TIMEOUT_MS, `apply Pod ${named.namespace}/${named.name}`);
    const attempt = () =>
      this.#applied(plan, false).catch((error: unknown) => {
        if (!isWithoutAccount(error)) throw error;
        return undefined;
      });
    return waitFor(attempt, { intervalMs: 10, signal });
  }

  /** Creates the namespace if it is missing, because on a node without the API, pods may use any namespace. */
  async #ensureNamespace(name: string): Promise<void> {
    const path = '/api/v1/namespaces';
    if ((await this.#find(`${path}/${encodeURIComponent(name)}`)) !== undefined) return;
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    const what = `create Namespace ${name}`;
    await this.#api.call({ method: 'POST', path, body, what }).catch((error: unknown) => {
      if (errorCode(error) !== 'aborted') throw error; // another client has created it
    });
  }

  /** Deletes a pod unless its deletion is already in progress, and waits until it has been removed. */
  async #end({ path, named }: Plan, { metadata, ...pod }: KubernetesObject): Promise<void> {
    const { uid, deletionTimestamp } = metadata;
    const what = `replace Pod ${named.namespace}/${named.name}`;
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
    if (deletionTimestamp === undefined)
      await this.#api.call({ method: 'DELETE', path, body, what }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    const { terminationGracePeriodSeconds = 30 } = (pod as unknown as Pick<Pod, 'spec'>).spec;
    using signal = withTimeout(undefined, terminationGracePeriodSeconds * 1000 + REMOVAL_TIMEOUT_MS, what);
    const isRemoved = async () => (await this.#find(path))?.metadata.uid !== uid || undefined;
    await waitFor(isRemoved, { intervalMs: 20, signal });
  }

  async #applied({ path, configuration, named, existing }: Plan, dryRun: boolean): Promise<KubernetesObject> {
    const query = `fieldManager=${MANAGER}&force=true${dryRun ? '&dryRun=All' : ''}`;
    const what = `apply ${named.kind} ${labelOf(named)}`;
    const contentType = 'application/apply-patch+yaml';
    try {
      return await this.#api.call({
        method: 'PATCH',
        path: `${path}?${query}`,
        body: configuration,
        contentType,
        what,
      });
    } catch (error) {
      if (existing === undefined || named.kind === 'Pod' || !/field is immutable/.test(errorMessage(error)))
        throw error;
      throw new PodwrightError('failed_precondition', `${errorMessage(error)}; delete it first`, { cause: error });
    }
  }

  #resize({ path, resize, named }: Plan, dryRun: boolean): Promise<KubernetesObject> {
    const query = `fieldManager=${MANAGER}${dryRun ? '&dryRun=All' : ''}`;
    const contentType = 'application/strategic-merge-patch+json';
    const what = `resize Pod ${labelOf(named)}`;
    return this.#api.call({ method: 'PATCH', path: `${path}/resize?${query}`, body: resize, contentType, what });
  }

  async #find(path: string): Promise<KubernetesObject | undefined> {
    try {
      return await this.#api.call({ method: 'GET', path, what: `read ${path}` });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

function planned({ named, action, existing }: Plan): AppliedManifest['done'][number] {
  const isNew = action !== 'unchanged';
  return { ...named, ...(!isNew && hasUid(named) && { uid: existing?.metadata.uid }), action };
}

/** Returns the results for objects that could not be planned because their CustomResourceDefinitions do not exist yet. */
function unplanned(objects: readonly AnyObject[], plans: readonly Plan[]): AppliedManifest['done'] {
  const isPlanned = ({ apiVersion, kind, metadata: { name, namespace } }: AnyObject) =>
    plans.some(
      ({ named }) =>
        (named.apiVersion ?? apiVersion) === apiVersion &&
        named.kind === kind &&
        named.name === name &&
        (named.namespace === '' || named.namespace === (namespace ?? named.namespace)),
    );
  return objects
    .filter((object) => !isPlanned(object))
    .map(({ apiVersion, kind, metadata }) => {
      return { kind, apiVersion, namespace: metadata.namespace ?? '', name: metadata.name, action: 'created' };
    });
}

type Definition = { group?: unknown; names?: { kind?: unknown }; versions?: { name?: unknown }[] };

/** Whether the first object is a CustomResourceDefinition that defines the kind and version of `object`. */
function defines({ kind, spec }: OtherObject, object: OtherObject): boolean {
  if (kind !== 'CustomResourceDefinition') return false;
  const { group, names, versions } = (spec ?? {}) as Definition;
  const isVersion = ({ name }: { name?: unknown }) => `${group}/${name}` === object.apiVersion;
  return names?.kind === object.kind && Array.isArray(versions) && versions.some(isVersion);
}

/**
 * Whether the results of an apply include the UIDs of objects of this kind. They do for pods, and for kinds that only a node with a
 * Kubernetes API has, because objects of these kinds (such as Deployments) might create pods.
 */
const hasUid = ({ kind, apiVersion }: Named): boolean => kind === 'Pod' || apiVersion !== undefined;

const isPod = (object: AnyObject): object is Pod => object.kind === 'Pod' && isNodeObject(object);

const isNodeObject = (object: AnyObject): object is ManifestObject => isNodeKind(object.kind);

const labelOf = ({ namespace, name }: Named) => (namespace === '' ? name : `${namespace}/${name}`);

function refusedAsInvalid(error: unknown): undefined {
  if (errorCode(error) !== 'invalid_argument') throw error;
  return undefined;
}

const isWithoutAccount = (error: unknown): boolean =>
  errorCode(error) === 'permission_denied' && /error looking up service account/.test(errorMessage(error));

function ofFile(named: Named, { metadata }: KubernetesObject): PodwrightError {
  const file = metadata.annotations?.[CONFIG_FILE_ANNOTATION] ?? 'a file in the manifest directory';
  const what = `apply ${named.kind.toLowerCase()} ${labelOf(named)}`;
  return new PodwrightError('failed_precondition', `${what}: it comes from ${file}; change it there`);
}
