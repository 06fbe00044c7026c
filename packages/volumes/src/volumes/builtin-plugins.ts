import type { PodObjects } from '@podwright/kube-api';
import type { NodeAllocatable } from '../downward-api/container-resource.ts';
import type { ClaimVolumes } from './claims.ts';
import { EmptyDirPlugin } from './empty-dir.ts';
import { EphemeralClaimsPlugin } from './ephemeral-claims.ts';
import { HostPathPlugin } from './host-path.ts';
import type { Mounter } from './mounter.ts';
import { NfsPlugin } from './nfs.ts';
import type { PodTokens } from './payload.ts';
import { PayloadPlugin } from './payload-plugin.ts';
import { PersistentVolumeClaimPlugin } from './persistent-volume-claim.ts';
import type { VolumePlugin } from './plugin.ts';

export type BuiltinPluginsInput = {
  mounter: Mounter;
  objects: PodObjects;
  nodeAllocatable: NodeAllocatable;
  claims: ClaimVolumes;
  /** Absent without an API server. */
  tokens?: PodTokens;
  /** Wraps the plugin for the node's own claims if there are claims of an API server. */
  claimPlugin?: (ofManifests: VolumePlugin) => VolumePlugin;
};

/** The built-in kinds of volumes. */
export function builtinVolumePlugins(input: BuiltinPluginsInput): VolumePlugin[] {
  const ofManifests = new PersistentVolumeClaimPlugin(input);
  const claims = input.claimPlugin?.(ofManifests) ?? ofManifests;
  return [
    new EmptyDirPlugin({ ...input, nodeMemoryBytes: input.nodeAllocatable.memoryBytes }),
    new HostPathPlugin(),
    new NfsPlugin(input.mounter),
    claims,
    new EphemeralClaimsPlugin(claims),
    new PayloadPlugin({ ...input, name: 'kubernetes.io/configmap', field: 'configMap' }),
    new PayloadPlugin({ ...input, name: 'kubernetes.io/secret', field: 'secret' }),
    new PayloadPlugin({ ...input, name: 'kubernetes.io/downward-api', field: 'downwardAPI' }),
    new PayloadPlugin({ ...input, name: 'kubernetes.io/projected', field: 'projected' }),
  ];
}
