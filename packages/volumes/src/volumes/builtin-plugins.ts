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
  /** Provides service account tokens; `undefined` without an API server. */
  tokens?: PodTokens;
  /** Creates a plugin for claims in an API server, which falls back to the given plugin for the node's own claims. */
  claimPlugin?: (ofManifests: VolumePlugin) => VolumePlugin;
};

/** Returns the plugins for all built-in volume types. */
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
