/** Decides which CSI volumes to attach to and detach from nodes (upstream's pkg/controller/volume/attachdetach). Pure. */
import {
  attachmentName,
  type CsiVolumeId,
  isConditionTrue,
  type Node,
  type Pod,
  uniqueVolumeName,
} from '@podwright/kube-api';
import type { Attachment, Claim, Volume } from '../objects/storage.ts';
import { namedVolume } from './named-volume.ts';

/** Annotation of nodes whose kubelet lets the controller attach and detach volumes. */
const MANAGED = 'volumes.kubernetes.io/controller-managed-attach-detach';
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
/** How long a volume may remain in use on an unready node, in milliseconds (upstream's `maxWaitForUnmountDuration`). */
export const FORCE_DETACH_MS = 360_000;
const EXCLUSIVE = ['ReadWriteOnce', 'ReadWriteOncePod'];

export type AttachmentState = {
  pods: readonly Pod[];
  nodes: readonly Node[];
  attachments: readonly Attachment[];
  claim: (namespace: string, name: string) => Claim | undefined;
  volume: (name: string) => Volume | undefined;
  /** Whether a driver's volumes must be attached before they are mounted (`attachRequired`). */
  isAttachable: (driver: string) => boolean;
  /** Returns how long the attachment with this name has not been needed by any pod, in milliseconds. */
  unneededMs: (attachment: string) => number;
};

/** A volume needed by pods on a node. */
export type NeededVolume = CsiVolumeId & { volume: Volume; node: string; pods: Pod[] };

export type AttachmentPlan = {
  /** The volumes that pods need, by attachment name. */
  needed: Map<string, NeededVolume>;
  attach: { name: string; needed: NeededVolume }[];
  /**
   * Needed volumes that can be attached to only one node and are attached to a different one. `pods` are the pods that use the volume on
   * that node.
   */
  blocked: { needed: NeededVolume; pods: Pod[] }[];
  /** Attachments to remove: first from the node's status, then from the API. */
  detach: Attachment[];
  /** All attachments that no pod needs, even those that must stay because their volumes are still in use. */
  unneeded: Attachment[];
};

/** Decides which attachments to create and which to remove. */
export function planAttachments(state: AttachmentState): AttachmentPlan {
  const needed = neededVolumes(state);
  const plan: AttachmentPlan = { needed, attach: [], blocked: [], detach: [], unneeded: [] };
  for (const attachment of state.attachments) {
    if (needed.has(attachment.metadata.name) || !isOwn(attachment)) continue;
    plan.unneeded.push(attachment);
    if (attachment.metadata.deletionTimestamp === undefined && mayDetach(attachment, state))
      plan.detach.push(attachment);
  }
  const present = new Set(state.attachments.map(({ metadata }) => metadata.name));
  for (const [name, volume] of needed) {
    if (present.has(name)) continue;
    const others = isExclusive(volume.volume) ? otherNodes(volume, state) : [];
    if (others.length === 0) plan.attach.push({ name, needed: volume });
    else plan.blocked.push({ needed: volume, pods: [...needed.values()].flatMap((one) => usersOf(one, volume)) });
  }
  return plan;
}

/** Returns the volumes for a node's `status.volumesAttached`: those that are attached and not about to be detached. */
export function volumesAttached(node: string, { needed, detach }: AttachmentPlan, state: AttachmentState): string[] {
  const names = state.attachments.flatMap((attachment) => {
    const { metadata, spec, status } = attachment;
    const isSafe = status?.attached === true && metadata.deletionTimestamp === undefined;
    if (spec.nodeName !== node || !isSafe || detach.includes(attachment)) return [];
    const volume = needed.get(metadata.name) ?? attachableOf(state.volume(spec.source.persistentVolumeName ?? ''));
    return volume === undefined ? [] : [uniqueVolumeName(volume)];
  });
  return names.sort();
}

function neededVolumes(state: AttachmentState): Map<string, NeededVolume> {
  const managed = new Set(
    state.nodes
      .filter(({ metadata }) => metadata.annotations?.[MANAGED] === 'true')
      .map(({ metadata }) => metadata.name),
  );
  const needed = new Map<string, NeededVolume>();
  for (const pod of state.pods) {
    const { nodeName: node = '' } = pod.spec;
    if (!managed.has(node) || hasEnded(pod)) continue;
    for (const volume of volumesOf(pod, state)) {
      const attachable = attachableOf(volume);
      if (attachable === undefined || !state.isAttachable(attachable.driver)) continue;
      const name = attachmentName(attachable, node);
      const known = needed.get(name) ?? { ...attachable, volume, node, pods: [] };
      known.pods.push(pod);
      needed.set(name, known);
    }
  }
  return needed;
}

function volumesOf({ metadata: { namespace, name: podName }, spec }: Pod, state: AttachmentState): Volume[] {
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    const own = ephemeral === undefined ? undefined : `${podName}-${name}`;
    const claimName = persistentVolumeClaim?.claimName ?? own;
    const claim = claimName === undefined ? undefined : state.claim(namespace, claimName);
    const volume = state.volume(claim?.spec.volumeName ?? '');
    return volume !== undefined && volume.spec.claimRef?.uid === claim?.metadata.uid ? [volume] : [];
  });
}

function attachableOf(volume: Volume | undefined): CsiVolumeId | undefined {
  const csi = volume?.spec.csi;
  return csi && { driver: csi.driver, handle: csi.volumeHandle };
}

/** Whether the pod's containers have terminated, so that they no longer use its volumes. */
function hasEnded({ metadata, status }: Pod): boolean {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return true;
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return metadata.deletionTimestamp !== undefined && statuses.every(({ state }) => state.running === undefined);
}

/** Whether the attachment was created by this controller, judging by the format of its name. */
const isOwn = ({ metadata, spec }: Attachment): boolean =>
  spec.source.persistentVolumeName !== undefined && /^csi-[\da-f]{64}$/.test(metadata.name);

function mayDetach({ metadata, spec }: Attachment, { nodes, unneededMs }: AttachmentState): boolean {
  const node = nodes.find((one) => one.metadata.name === spec.nodeName);
  if (node === undefined || node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE)) return true;
  const isInUse = (node.status?.volumesInUse ?? []).some((name) => {
    const volume = namedVolume(name);
    return volume !== undefined && attachmentName(volume, spec.nodeName) === metadata.name;
  });
  const isReady = isConditionTrue(node.status?.conditions, 'Ready');
  return !isInUse || (!isReady && unneededMs(metadata.name) > FORCE_DETACH_MS);
}

function isExclusive({ spec: { accessModes = [] } }: Volume): boolean {
  return accessModes.length > 0 && accessModes.every((mode) => EXCLUSIVE.includes(mode));
}

const otherNodes = ({ volume, node }: NeededVolume, { attachments }: AttachmentState): string[] =>
  attachments
    .filter(({ spec }) => spec.source.persistentVolumeName === volume.metadata.name && spec.nodeName !== node)
    .map(({ spec }) => spec.nodeName);

const usersOf = (one: NeededVolume, { volume, node }: NeededVolume): Pod[] =>
  one.node !== node && one.volume.metadata.name === volume.metadata.name ? one.pods : [];
