import { isAbsolute } from 'node:path';
import type { ThirdPartyPlugin } from '@podwright/runtime/plugin';
import { z } from 'zod';
import { CopySnapshotter } from './copy-snapshotter.ts';

const settings = z.strictObject({
  /** Directory of the snapshots, for example on a file system with reflinks. Default: the plugin's directory below Podwright's root. */
  directory: z.string().refine(isAbsolute, 'must be an absolute path').optional(),
  /** Whether copies share their blocks with the original until one of them is modified (`cp --reflink`). Default: `auto`. */
  reflink: z.enum(['auto', 'always', 'never']).default('auto'),
});

const plugin: ThirdPartyPlugin<z.infer<typeof settings>, 'snapshotter'> = {
  apiVersion: 1,
  type: 'snapshotter',
  settings,
  init({ id, settings: { directory, reflink }, root, note }) {
    note(`copies in ${directory ?? root}, reflink ${reflink}`);
    return new CopySnapshotter({ name: id, root: directory ?? root, reflink });
  },
};

export default plugin;
