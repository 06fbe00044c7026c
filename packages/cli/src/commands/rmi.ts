import { PodwrightError } from '@podwright/base';
import { withRuntime } from '../daemon/with-runtime.ts';
import { print } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';

/** `podwright rmi IMAGE…`. */
export async function removeImages(context: CommandContext, references: string[]): Promise<void> {
  await withRuntime(context, async (cri) => {
    const missing: string[] = [];
    for (const reference of references) {
      const { image } = await cri.image.imageStatus({ image: { image: reference } });
      if (image === undefined) {
        missing.push(reference);
        continue;
      }
      await cri.image.removeImage({ image: { image: reference } });
      print(`removed ${image.repoTags.join(', ') || image.id}`);
    }
    if (missing.length > 0)
      throw new PodwrightError('not_found', `no such image: ${missing.join(', ')}; 'podwright images' lists them`);
  });
}
