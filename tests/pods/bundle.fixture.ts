import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno, runChecked } from '@podwright/base';
import { writeExampleArchive } from '../../scripts/example-image.ts';

const checkout = new URL('../..', import.meta.url).pathname;

/** The product as it is shipped, made from the sources as they are now, and the image of the examples. */
export type Bundle = { program: string; image: string; remove: () => void };

/**
 * Builds into a directory of its own, so that no other build removes the chunks under a node that runs. Where
 * PODWRIGHT_TEST_BUNDLE names a directory, the first to ask builds there, and for the others a link to it is all.
 */
export async function buildBundle(): Promise<Bundle> {
  const shared = process.env.PODWRIGHT_TEST_BUNDLE;
  const directory = shared === undefined ? await makeBundle() : await linkToBundle(shared);
  return {
    program: join(directory, 'dist/podwright.js'),
    image: join(directory, 'image.tar'),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function makeBundle(): Promise<string> {
  const directory = makeDirectory();
  mkdirSync(join(directory, 'dist'));
  symlinkSync(join(checkout, 'node_modules'), join(directory, 'node_modules'));
  await runChecked(process.execPath, ['scripts/build.ts', join(directory, 'dist')], { cwd: checkout });
  await writeExampleArchive(join(directory, 'image.tar'));
  return directory;
}

async function linkToBundle(shared: string): Promise<string> {
  if (!existsSync(shared)) moveUnlessThere(await makeBundle(), shared);
  const directory = makeDirectory();
  for (const name of ['dist', 'image.tar']) symlinkSync(join(shared, name), join(directory, name));
  return directory;
}

/** Whoever is the first; others may have built meanwhile. */
function moveUnlessThere(directory: string, shared: string): void {
  try {
    renameSync(directory, shared);
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY') && !isErrno(error, 'EEXIST')) throw error;
    rmSync(directory, { recursive: true });
  }
}

/** People who are not root run what is in it too. */
function makeDirectory(): string {
  const directory = mkdtempSync('/tmp/pwb-');
  chmodSync(directory, 0o755);
  return directory;
}
