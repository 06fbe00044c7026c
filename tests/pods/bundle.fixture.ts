import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { runChecked } from '@podwright/base';
import { writeExampleArchive } from '../../scripts/example-image.ts';

const checkout = new URL('../..', import.meta.url).pathname;

/** The product as it is shipped, made from the sources as they are now, and the image of the examples. */
export type Bundle = { program: string; image: string; remove: () => void };

/** Builds into a directory of its own, so that no other build removes the chunks under a node that runs. */
export async function buildBundle(): Promise<Bundle> {
  const directory = mkdtempSync('/tmp/pwb-');
  chmodSync(directory, 0o755); // people who are not root run it too
  mkdirSync(join(directory, 'dist'));
  symlinkSync(join(checkout, 'node_modules'), join(directory, 'node_modules'));
  await runChecked(process.execPath, ['scripts/build.ts', join(directory, 'dist')], { cwd: checkout });
  const image = join(directory, 'image.tar');
  await writeExampleArchive(image);
  return {
    program: join(directory, 'dist/podwright.js'),
    image,
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
