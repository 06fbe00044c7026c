import { eventSubject, type Pod } from '@podwright/kube-api';
import { apiMessage, PERSISTENT_VOLUME_CLAIMS, PODS } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import type { Claim } from '../objects/storage.ts';
import { controllerOf, controllerReference, isControlledBy } from '../pods/controller-reference.ts';

type Template = { metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }; spec: object };
type EphemeralVolume = { name: string; template: Template };

/** Creates the claims of pods' `ephemeral` volumes (upstream's pkg/controller/volume/ephemeral). The pods own the claims. */
export const ephemeralVolumeController: Controller = async (parts) => {
  const { objects, logger, signal } = parts;
  const pods = objects.of<Pod>(PODS);
  const claims = objects.of<Claim>(PERSISTENT_VOLUME_CLAIMS);
  if (!(await untilSynced(pods, claims))) return;
  const queue = new WorkQueue({
    sync: (key) => syncPod(key, parts),
    failure: 'failed to create the claim of an ephemeral volume',
    logger,
    signal,
  });
  pods.onChange(({ type, object }) => {
    if (type !== 'DELETED' && ephemeralVolumes(object).length > 0) queue.add(placeText(object.metadata));
  });
  claims.onChange(({ type, object }) => {
    const owner = controllerOf(object);
    if (type === 'DELETED' && owner?.kind === 'Pod')
      queue.add(placeText({ namespace: object.metadata.namespace, name: owner.name }));
  });
  await queue.ended;
};

/** Returns a pod's ephemeral volumes, or none if it is being deleted. */
function ephemeralVolumes({ metadata, spec }: Pod): EphemeralVolume[] {
  if (metadata.deletionTimestamp !== undefined) return [];
  return (spec.volumes ?? []).flatMap(({ name, ephemeral }) => {
    const { volumeClaimTemplate: template } = (ephemeral ?? {}) as { volumeClaimTemplate?: Template };
    return template === undefined ? [] : [{ name, template }];
  });
}

async function syncPod(key: string, parts: ControllerParts): Promise<void> {
  const pod = parts.objects.of<Pod>(PODS).get(placeOfText(key));
  if (pod === undefined) return;
  for (const volume of ephemeralVolumes(pod)) {
    try {
      await ensureClaim(pod, volume, parts);
    } catch (error) {
      const message = `ephemeral volume ${volume.name}: ${apiMessage(error)}`;
      if (!parts.signal.aborted)
        parts.events('ephemeral_volume').event(eventSubject(pod), 'Warning', 'FailedBinding', message);
      throw error;
    }
  }
}

async function ensureClaim(pod: Pod, { name, template }: EphemeralVolume, parts: ControllerParts): Promise<void> {
  const { client, objects, signal } = parts;
  const claims = objects.of<Claim>(PERSISTENT_VOLUME_CLAIMS);
  const { namespace, name: podName, uid } = pod.metadata;
  const claimName = `${podName}-${name}`;
  const owner = { metadata: { namespace, name: podName, uid } };
  const existing = claims.get({ namespace, name: claimName });
  if (existing !== undefined) {
    if (isControlledBy(existing, PODS, owner)) return;
    throw new Error(`PVC ${namespace}/${claimName} was not created for pod ${namespace}/${podName} (pod is not owner)`);
  }
  const { labels, annotations } = template.metadata ?? {};
  const ownerReferences = [controllerReference(PODS, owner)];
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name: claimName, labels, annotations, ownerReferences },
    spec: template.spec,
  };
  claims.written(await client.create<Claim>(PERSISTENT_VOLUME_CLAIMS, claim, { signal }));
}
