import { PodwrightError, waitFor, withTimeout } from '@podwright/base';
import { type KubeClient, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '@podwright/kube-client';
import type { Claim } from '../cluster/objects.ts';
import { SELECTED_NODE, type VolumePlan } from '../filters/volume-plan.ts';

/** How long a provisioner may take (upstream's `bindTimeoutSeconds`). */
const BIND_TIMEOUT_MS = 600_000;
const CHECK_INTERVAL_MS = 100;

export type VolumeBinding = {
  client: KubeClient;
  node: string;
  /** Returns the current state of a claim. */
  claim: (claim: Claim) => Claim | undefined;
  isBound: (claim: Claim) => boolean;
  signal: AbortSignal;
};

/**
 * Reserves a plan's volumes for its claims, requests the missing ones from provisioners, and waits until all claims are bound. Throws
 * `aborted` if a claim is deleted or its provisioner gives up, and `deadline_exceeded` after ten minutes.
 */
export async function bindVolumes({ bindings, provisions }: VolumePlan, parts: VolumeBinding): Promise<void> {
  const { client, node } = parts;
  for (const { claim, volume } of bindings) {
    const { namespace, name, uid } = claim.metadata;
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid };
    const { resourceVersion } = volume.metadata;
    const annotations = { 'pv.kubernetes.io/bound-by-controller': 'yes' };
    const body = { metadata: { resourceVersion, annotations }, spec: { claimRef } };
    await client.patchForMetadata(PERSISTENT_VOLUMES, { name: volume.metadata.name! }, { type: 'merge', body });
  }
  for (const { metadata } of provisions) {
    const { namespace, name = '', resourceVersion } = metadata;
    const body = { metadata: { resourceVersion, annotations: { [SELECTED_NODE]: node } } };
    await client.patchForMetadata(PERSISTENT_VOLUME_CLAIMS, { namespace, name }, { type: 'merge', body });
  }
  const claims = [...bindings.map(({ claim }) => claim), ...provisions];
  if (claims.length > 0) await untilBound(claims, provisions, parts);
}

async function untilBound(claims: readonly Claim[], provisions: readonly Claim[], parts: VolumeBinding): Promise<void> {
  using signal = withTimeout(parts.signal, BIND_TIMEOUT_MS, 'bind the volumes');
  const seen = new Set<string>();
  const areBound = () =>
    claims.every((given) => {
      const claim = parts.claim(given);
      if (claim === undefined || claim.metadata.uid !== given.metadata.uid)
        throw new PodwrightError('aborted', `persistentvolumeclaim "${given.metadata.name}" was deleted`);
      const selected = claim.metadata.annotations?.[SELECTED_NODE];
      if (selected !== undefined) seen.add(given.metadata.uid ?? '');
      // a provisioner removes the selected-node annotation to signal that it cannot create the volume for this node
      if (provisions.includes(given) && selected === undefined && seen.has(given.metadata.uid ?? ''))
        throw new PodwrightError('aborted', `provisioning failed for persistentvolumeclaim "${given.metadata.name}"`);
      return parts.isBound(claim);
    });
  await waitFor(() => (areBound() ? true : undefined), { intervalMs: CHECK_INTERVAL_MS, signal });
}
