import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { writeExampleArchive } from '../../scripts/example-image.ts';

const checkout = new URL('../..', import.meta.url).pathname;

/** The bundled product, built from the current sources, and the examples' image. */
export type Bundle = {
  program: string;
  /** Whether the program is the single executable, which does not require Node.js. */
  isExecutable?: boolean;
  image: string;
  remove: () => void;
};

/**
 * Builds into a new directory, so that no other build can remove chunks that a running node needs. If PODWRIGHT_TEST_BUNDLE is set to a
 * directory, the first caller builds into it, and later ones get links to it.
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

/** Moves the build to the shared directory, or removes it if another process has already moved one there. */
function moveUnlessThere(directory: string, shared: string): void {
  try {
    renameSync(directory, shared);
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY') && !isErrno(error, 'EEXIST')) throw error;
    rmSync(directory, { recursive: true });
  }
}

/** Creates a directory that other users can run programs from. */
function makeDirectory(): string {
  const directory = mkdtempSync('/tmp/pwb-');
  chmodSync(directory, 0o755);
  return directory;
}
