import type { ObjectLookup } from '../config/local-objects.ts';
import type { NodeAllocatable } from '../downward-api/container-resource.ts';
import { EmptyDirPlugin } from './empty-dir.ts';
import { HostPathPlugin } from './host-path.ts';
import type { Mounter } from './mounter.ts';
import { PayloadPlugin } from './payload-plugin.ts';
import type { VolumePlugin } from './plugin.ts';

export type BuiltinPluginsInput = { mounter: Mounter; objects: ObjectLookup; nodeAllocatable: NodeAllocatable };

/** The kinds of volume that Podwright has. */
export function builtinVolumePlugins(input: BuiltinPluginsInput): VolumePlugin[] {
  return [
    new EmptyDirPlugin(input.mounter),
    new HostPathPlugin(),
    new PayloadPlugin({ ...input, name: 'kubernetes.io/configmap', field: 'configMap' }),
    new PayloadPlugin({ ...input, name: 'kubernetes.io/secret', field: 'secret' }),
    new PayloadPlugin({ ...input, name: 'kubernetes.io/downward-api', field: 'downwardAPI' }),
    new PayloadPlugin({ ...input, name: 'kubernetes.io/projected', field: 'projected' }),
  ];
}
