import { type EventRecorder, eventSubject, type Node, type Pod } from '@podwright/kube-api';
import {
  CSI_DRIVERS,
  isApiStatus,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  VOLUME_ATTACHMENTS,
} from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import type { Attachment, Claim, CsiDriverObject, Volume } from '../objects/storage.ts';
import {
  type AttachmentPlan,
  type AttachmentState,
  FORCE_DETACH_MS,
  type NeededVolume,
  planAttachments,
  volumesAttached,
} from './decide-attachments.ts';

const EVERYTHING = 'attachments';

/**
 * Creates and deletes the VolumeAttachments of CSI volumes, which the drivers' attachers then attach and detach, and lists attached volumes
 * in node statuses, like upstream's attachdetach controller.
 */
export const attachDetachController: Controller = (parts) => new AttachDetachController(parts).run();

class AttachDetachController {
  readonly #parts: ControllerParts;
  readonly #events: EventRecorder;
  readonly #pods: ObjectCache<Pod>;
  readonly #claims: ObjectCache<Claim>;
  readonly #volumes: ObjectCache<Volume>;
  readonly #nodes: ObjectCache<Node & { metadata: { name: string } }>;
  readonly #drivers: ObjectCache<CsiDriverObject>;
  readonly #attachments: ObjectCache<Attachment>;
  readonly #queue: WorkQueue;
  /** When each attachment was first found not to be needed by any pod, in Unix milliseconds, by attachment name. */
  readonly #unneeded = new Map<string, number>();
  /** The message of the last event for each attachment and pod, keyed by `ATTACHMENT POD-UID`. */
  readonly #reported = new Map<string, string>();

  constructor(parts: ControllerParts) {
    const { objects, events, logger, signal } = parts;
    this.#parts = parts;
    this.#events = events('attachdetach-controller');
    this.#pods = objects.of(PODS);
    this.#claims = objects.of(PERSISTENT_VOLUME_CLAIMS);
    this.#volumes = objects.of(PERSISTENT_VOLUMES);
    this.#nodes = objects.of(NODES);
    this.#drivers = objects.of(CSI_DRIVERS);
    this.#attachments = objects.of(VOLUME_ATTACHMENTS);
    const failure = 'failed to attach or detach volumes';
    this.#queue = new WorkQueue({ sync: () => this.#sync(), failure, maxRetryMs: 60_000, logger, signal });
  }

  async run(): Promise<void> {
    const caches = [this.#pods, this.#claims, this.#volumes, this.#nodes, this.#drivers, this.#attachments] as const;
    if (!(await untilSynced(...caches))) return;
    const add = () => this.#queue.add(EVERYTHING);
    this.#pods.onChange(({ object: { spec } }) => {
      if (spec.volumes?.some((volume) => volume.persistentVolumeClaim ?? volume.ephemeral)) add();
    });
    this.#volumes.onChange(({ object: { spec } }) => {
      if (spec.csi !== undefined) add();
    });
    this.#claims.onChange(({ before, object }) => {
      if (before?.spec.volumeName !== object.spec.volumeName) add();
    });
    for (const cache of [this.#nodes, this.#drivers, this.#attachments]) cache.onChange(add);
    await this.#queue.ended;
  }

  async #sync(): Promise<void> {
    const hasCsi = this.#volumes.list().some(({ spec }) => spec.csi !== undefined);
    if (!hasCsi && this.#attachments.list().length === 0) {
      this.#unneeded.clear();
      this.#reported.clear();
      return;
    }
    const state = this.#state();
    const plan = planAttachments(state);
    this.#countUnneeded(plan);
    await this.#writeNodes(plan, state);
    const failures: unknown[] = [];
    const attempt = (step: Promise<void>) => step.catch((error: unknown) => void failures.push(error));
    await Promise.all([
      ...plan.detach.map((attachment) => attempt(this.#detach(attachment))),
      ...plan.attach.map(({ name, needed }) => attempt(this.#attach(name, needed))),
    ]);
    this.#report(plan);
    if (failures.length > 0) throw failures[0];
  }

  #state(): AttachmentState {
    return {
      pods: this.#pods.list(),
      nodes: this.#nodes.list(),
      attachments: this.#attachments.list(),
      claim: (namespace, name) => this.#claims.get({ namespace, name }),
      volume: (name) => this.#volumes.get({ name }),
      isAttachable: (name) => this.#drivers.get({ name })?.spec.attachRequired !== false,
      unneededMs: (name) => this.#parts.now() - (this.#unneeded.get(name) ?? this.#parts.now()),
    };
  }

  #countUnneeded({ unneeded }: AttachmentPlan): void {
    const names = new Set(unneeded.map(({ metadata }) => metadata.name));
    for (const name of this.#unneeded.keys()) if (!names.has(name)) this.#unneeded.delete(name);
    for (const name of names)
      if (!this.#unneeded.has(name)) {
        this.#unneeded.set(name, this.#parts.now());
        this.#queue.addAfter(EVERYTHING, FORCE_DETACH_MS + 1000);
      }
  }

  async #attach(name: string, { driver, volume, node }: NeededVolume): Promise<void> {
    const { client, signal } = this.#parts;
    const attachment = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name },
      spec: { attacher: driver, nodeName: node, source: { persistentVolumeName: volume.metadata.name } },
    };
    await client
      .create<Attachment>(VOLUME_ATTACHMENTS, attachment, { signal })
      .then((created) => this.#attachments.written(created))
      .catch((error: unknown) => {
        if (!isApiStatus(error, 'AlreadyExists')) throw error;
      });
  }

  async #detach({ metadata: { name, uid }, spec }: Attachment): Promise<void> {
    const { client, signal } = this.#parts;
    if (!(await this.#isFree(name, spec.nodeName))) return;
    await client
      .delete(VOLUME_ATTACHMENTS, { name }, { preconditions: { uid } }, { signal })
      .catch((error: unknown) => {
        if (!isApiStatus(error, 404)) throw error;
      });
  }

  /**
   * Whether the volume may be detached according to the latest node status. Reads the node from the server, because the cached status might
   * lack a volume in use.
   */
  async #isFree(attachment: string, nodeName: string): Promise<boolean> {
    const { client, signal } = this.#parts;
    const node = await client.get<Node>(NODES, { name: nodeName }, { signal }).catch((error: unknown) => {
      if (!isApiStatus(error, 404)) throw error;
      return undefined;
    });
    const nodes = node === undefined ? [] : [node];
    return planAttachments({ ...this.#state(), nodes }).detach.some(({ metadata }) => metadata.name === attachment);
  }

  /**
   * Writes `status.volumesAttached` of all nodes. Must be called before volumes are detached, because a kubelet may mount any volume that
   * is still listed.
   */
  async #writeNodes(plan: AttachmentPlan, state: AttachmentState): Promise<void> {
    const { client, signal } = this.#parts;
    for (const { metadata, status } of this.#nodes.list()) {
      const wanted = volumesAttached(metadata.name, plan, state);
      const present = (status?.volumesAttached ?? []).map(({ name }) => name);
      if (JSON.stringify(present.toSorted()) === JSON.stringify(wanted)) continue;
      const list = wanted.map((name) => ({ name, devicePath: '' }));
      const body = { metadata: { uid: metadata.uid }, status: { volumesAttached: list } };
      const patch = { type: 'merge' as const, body, subresource: 'status' };
      this.#nodes.written(await client.patch(NODES, { name: metadata.name }, patch, { signal }));
    }
  }

  /** Records events about attached and failed volumes on the pods that need them, once per change. */
  #report({ needed, blocked }: AttachmentPlan): void {
    const needing = new Set([...needed].flatMap(([name, { pods }]) => pods.map((pod) => reportKey(name, pod))));
    for (const [name, volume] of needed) {
      const { attached, attachError } = this.#attachments.get({ name })?.status ?? {};
      const title = `for volume "${volume.volume.metadata.name}"`;
      if (attached === true)
        this.#record(name, volume, ['Normal', 'SuccessfulAttachVolume', `AttachVolume.Attach succeeded ${title} `]);
      else if (attachError?.message)
        this.#record(name, volume, [
          'Warning',
          'FailedAttachVolume',
          `AttachVolume.Attach failed ${title} : ${attachError.message}`,
        ]);
    }
    for (const { needed: volume, pods } of blocked) {
      const used =
        pods.length === 0
          ? "Volume is already exclusively attached to one node and can't be attached to another"
          : `Volume is already used by pod(s) ${pods.map(({ metadata }) => metadata.name).join(', ')}`;
      const message = `Multi-Attach error for volume "${volume.volume.metadata.name}" ${used}`;
      const name = `${volume.node}/${volume.volume.metadata.name}`;
      for (const pod of volume.pods) needing.add(reportKey(name, pod));
      this.#record(name, volume, ['Warning', 'FailedAttachVolume', message]);
    }
    for (const key of this.#reported.keys()) if (!needing.has(key)) this.#reported.delete(key);
  }

  #record(name: string, { pods }: NeededVolume, [type, reason, message]: ['Normal' | 'Warning', string, string]): void {
    for (const pod of pods) {
      const key = reportKey(name, pod);
      if (this.#reported.get(key) === message) continue;
      this.#reported.set(key, message);
      this.#events.event(eventSubject(pod), type, reason, message);
    }
  }
}

const reportKey = (attachment: string, { metadata }: Pod): string => `${attachment} ${metadata.uid}`;
