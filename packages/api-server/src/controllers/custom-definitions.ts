/**
 * Maintains the status of CustomResourceDefinitions, makes the server serve their kinds, and deletes a kind's objects when its definition
 * is being deleted.
 */
import { ApiError, groupResource, timestamp } from '@podwright/api-machinery';
import { errorMessage, pause } from '@podwright/base';
import { type ApiObject, objectsAt, textAt } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { followResource } from './follow-resource.ts';
import { isOvertaken } from './ignore-overtaken.ts';

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

export type DefinitionsParts = ControllerParts & {
  /** Makes the server serve the custom kinds of these definitions instead of the previous ones. */
  install: (definitions: readonly ApiObject[]) => Promise<void>;
  /** Loads the code that computes a definition's status. */
  load: () => Promise<DefinitionRules>;
  now: () => number;
};

type DefinitionRules = typeof import('@podwright/custom-resources');

/** Field manager: in upstream, this controller is part of the API server. */
const MANAGER = 'kube-apiserver';
const RETRY_MS = 100;
const MAX_RETRY_MS = 5000;

/** Maintains the CustomResourceDefinitions and their kinds until the signal aborts. */
export async function keepDefinitions(parts: DefinitionsParts): Promise<void> {
  const keeper = new DefinitionKeeper(parts);
  await followResource(DEFINITIONS, { listed: () => keeper.update(), changed: () => keeper.update() }, parts);
}

class DefinitionKeeper {
  readonly #parts: DefinitionsParts;
  readonly #ending = new Set<string>();
  #hasInstalled = false;

  constructor(parts: DefinitionsParts) {
    this.#parts = parts;
  }

  async update(): Promise<void> {
    const { store, install, load } = this.#parts;
    const definitions = store.list(DEFINITIONS).objects.map((object) => object.decode());
    if (definitions.length > 0) {
      const rules = await load();
      for (const definition of definitions) await this.#updateStatus(definition, rules);
    }
    const current = store.list(DEFINITIONS).objects.map((object) => object.decode());
    if (current.length > 0 || this.#hasInstalled) await install(current); // a node without definitions loads no rules
    this.#hasInstalled = current.length > 0;
    for (const definition of current) if (definition.metadata.deletionTimestamp !== undefined) this.#clean(definition);
  }

  async #updateStatus(definition: ApiObject, rules: DefinitionRules): Promise<void> {
    const { store, registryOf, context, now } = this.#parts;
    const { name = '' } = definition.metadata;
    const others = () => store.list(DEFINITIONS).objects.map((object) => object.decode());
    const next = (object: ApiObject) => rules.withAcceptedNames(object, others(), timestamp(now()));
    if (rules.hasSameStatus(next(definition), definition)) return;
    await registryOf(DEFINITIONS)
      .change({ namespace: '', name }, next, { ...context('status'), fieldManager: MANAGER })
      .catch((error: unknown) => {
        if (!isOvertaken(error) && !isMissing(error)) throw error;
      });
  }

  /** Deletes all objects of a definition's kind, and then lets the definition be removed. */
  #clean(definition: ApiObject): void {
    const { uid = '' } = definition.metadata;
    if (this.#ending.has(uid)) return;
    this.#ending.add(uid);
    void this.#cleanAll(definition).finally(() => this.#ending.delete(uid));
  }

  async #cleanAll(definition: ApiObject): Promise<void> {
    const { logger, signal } = this.#parts;
    const { name = '', uid } = definition.metadata;
    let waitMs = RETRY_MS;
    while (!signal.aborted && this.#find(name)?.metadata.uid === uid) {
      try {
        if (await this.#deleteObjects(definition)) return await this.#finish(name);
      } catch (error) {
        logger.warn(
          { definition: name, error: errorMessage(error) },
          'delete the objects of a custom kind failed, trying again',
        );
      }
      await pause(waitMs, signal);
      waitMs = Math.min(waitMs * 2, MAX_RETRY_MS);
    }
  }

  #find(name: string): ApiObject | undefined {
    return this.#parts.store.get({ resource: DEFINITIONS, namespace: '', name })?.decode();
  }

  /** Deletes a kind's objects. Returns true once none are left. */
  async #deleteObjects(definition: ApiObject): Promise<boolean> {
    const { store, registryOf, context } = this.#parts;
    const resource = groupResource({
      group: textAt(definition, 'spec', 'group'),
      plural: textAt(definition, 'spec', 'names', 'plural'),
    });
    if (!isEstablished(definition)) return true;
    for (const object of store.list(resource).objects) {
      const { name = '', namespace = '', deletionTimestamp } = object.decode().metadata;
      if (deletionTimestamp !== undefined) continue;
      try {
        await registryOf(resource).delete({ namespace, name }, { propagationPolicy: 'Background' }, context());
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    }
    return store.list(resource).objects.length === 0;
  }

  async #finish(name: string): Promise<void> {
    const { registryOf, context, load } = this.#parts;
    const { withoutCleanup } = await load();
    await registryOf(DEFINITIONS).change({ namespace: '', name }, withoutCleanup, {
      ...context(),
      fieldManager: MANAGER,
    });
  }
}

const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status.code === 404;

const isEstablished = (definition: ApiObject): boolean =>
  objectsAt(definition, 'status', 'conditions').some(
    (one) => textAt(one, 'type') === 'Established' && textAt(one, 'status') === 'True',
  );
