import { errorMessage, type Logger, pause } from '@podwright/base';
import type { CsiNode } from '@podwright/kube-api';
import { CSI_NODES, isApiStatus, type KubeClient, NODES } from '@podwright/kube-client';
import { absentAsUndefined } from './api-answer.ts';
import { API_WAIT_MS, CSI_NODE_QUICK_RETRIES_MS, CSI_NODE_RETRIES_MS } from './limits.ts';

/** In-tree volume plugins that have been migrated to CSI drivers (upstream's migratedPlugins). */
const MIGRATED_PLUGINS = [
  'kubernetes.io/aws-ebs',
  'kubernetes.io/azure-disk',
  'kubernetes.io/azure-file',
  'kubernetes.io/cinder',
  'kubernetes.io/gce-pd',
  'kubernetes.io/portworx-volume',
  'kubernetes.io/vsphere-volume',
];
const MIGRATED_ANNOTATION = 'storage.alpha.kubernetes.io/migrated-plugins';

export type CsiNodeOptions = {
  name: string;
  client: KubeClient;
  /** Resolves once the Node object exists. A missing CSINode is created only after that. */
  registered: Promise<unknown>;
  /** Called when `problem()` has changed. */
  onChange: () => void;
  logger: Logger;
};

/**
 * Ensures that the node has a CSINode object. Until it exists the node is not ready, so that no pods with CSI volumes are scheduled to it.
 */
export class CsiNodeStart {
  readonly #options: CsiNodeOptions;
  readonly #tried = Promise.withResolvers<void>();
  #problem: string | undefined = 'CSINode is not yet initialized';

  constructor(options: CsiNodeOptions) {
    this.#options = options;
  }

  /** Returns the reason why the node is not ready yet; `undefined` once the CSINode exists. */
  problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves when the first attempt to ensure the CSINode has succeeded or failed. */
  get tried(): Promise<void> {
    return this.#tried.promise;
  }

  /** Ensures that the CSINode exists. Retries until that succeeds or the signal aborts, with increasing pauses of up to two minutes. */
  async run(signal: AbortSignal): Promise<void> {
    if (!(await this.#isThere(signal))) await this.#options.registered;
    const lastMs = CSI_NODE_RETRIES_MS.at(-1)!;
    for (let round = 0; !signal.aborted; round++) {
      const failure = await this.#tryQuickly(signal);
      this.#setProblem(failure && `failed to initialize CSINode: ${failure}`);
      if (failure === undefined) return;
      await pause(jittered(CSI_NODE_RETRIES_MS[round] ?? lastMs), signal);
    }
  }

  #setProblem(problem: string | undefined): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (problem !== undefined) this.#options.logger.error({ error: problem }, 'the node is not ready for volumes');
    this.#options.onChange();
    this.#tried.resolve();
  }

  /** Whether the CSINode exists. Waits until the API server responds and permits the read. */
  async #isThere(signal: AbortSignal): Promise<boolean> {
    const { client, name } = this.#options;
    while (!signal.aborted) {
      try {
        return (await absentAsUndefined(client.get(CSI_NODES, { name }, { signal }))) !== undefined;
      } catch {
        await pause(API_WAIT_MS, signal);
      }
    }
    return false;
  }

  /**
   * Makes several attempts to ensure the CSINode in quick succession. Returns upstream's error message if all fail; otherwise `undefined`.
   */
  async #tryQuickly(signal: AbortSignal): Promise<string | undefined> {
    for (const delayMs of [...CSI_NODE_QUICK_RETRIES_MS, undefined]) {
      try {
        await ensureCsiNode(this.#options, signal);
        return undefined;
      } catch (error) {
        this.#tried.resolve();
        const failure = errorMessage(error);
        if (delayMs === undefined || signal.aborted)
          return `error updating CSINode annotation: timed out waiting for the condition; caused by: ${failure}`;
        await pause(jittered(delayMs), signal);
      }
    }
  }
}

const jittered = (delayMs: number) => delayMs * (1 + 0.1 * Math.random());

/**
 * Creates or updates the CSINode. If it belongs to an earlier Node object with the same name, deletes it and rejects, so that the caller
 * retries.
 */
async function ensureCsiNode({ client, name, logger }: CsiNodeOptions, signal: AbortSignal): Promise<void> {
  const call = { signal };
  const { metadata: owner } = await client.get(NODES, { name }, call);
  const uid = owner.uid ?? '';
  const known = await absentAsUndefined(client.get<CsiNode>(CSI_NODES, { name }, call));
  if (known === undefined) return await create(newCsiNode(name, uid), { client, logger, signal });
  const references = known.metadata.ownerReferences ?? [];
  if (!references.some((one) => one.kind === 'Node' && one.name === name && one.uid === uid)) {
    await client.delete(CSI_NODES, { name }, {}, call);
    const before = references.findLast(({ kind }) => kind === 'Node')?.uid ?? '';
    throw new Error(
      `CSINode "${name}" was owned by different node (oldNodeID="${before}", newNodeID="${uid}"), deleted it`,
    );
  }
  const annotated = withMigrated(known);
  if (annotated !== known) await client.update(CSI_NODES, annotated, call);
}

type Creation = { client: KubeClient; logger: Logger; signal: AbortSignal };

/** Creates the CSINode. A minimal API server may not serve CSINodes; this is not an error. */
async function create(csiNode: CsiNode, { client, logger, signal }: Creation): Promise<void> {
  try {
    await client.create(CSI_NODES, csiNode, { signal });
  } catch (error) {
    if (!isApiStatus(error, 404)) throw error;
    logger.warn({}, 'the API server has no CSINodes: volumes of CSI drivers will not work');
  }
}

function newCsiNode(name: string, uid: string): CsiNode {
  return withMigrated({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec: { drivers: null },
  });
}

/** Adds the annotation that lists the migrated plugins. Returns the object unchanged if the annotation already lists them, in any order. */
function withMigrated(csiNode: CsiNode): CsiNode {
  const { annotations = {} } = csiNode.metadata;
  const named = (annotations[MIGRATED_ANNOTATION] ?? '').split(',').toSorted().join(',');
  const wanted = MIGRATED_PLUGINS.join(',');
  if (named === wanted) return csiNode;
  return {
    ...csiNode,
    metadata: { ...csiNode.metadata, annotations: { ...annotations, [MIGRATED_ANNOTATION]: wanted } },
  };
}
