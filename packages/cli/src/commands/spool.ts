import { closeSync, fstatSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_FILE } from '@podwright/base';

/** Returns the directory for large temporary files. It is not `/tmp`, which is often a tmpfs. */
export function spoolDirectory(): string {
  return process.env.TMPDIR || '/var/tmp';
}

/** Standard input as a file that other processes can open until this is disposed. */
export type SpooledInput = Disposable & { path: string };

/** Returns standard input itself if it is a file. Otherwise, copies it to an unlinked file, which is freed when this process exits. */
export async function spoolInput(): Promise<SpooledInput> {
  if (fstatSync(0).isFile()) return { path: pathOf(0), [Symbol.dispose]: () => undefined };
  const descriptor = openNameless();
  try {
    for await (const chunk of process.stdin) writeFileSync(descriptor, chunk); // a stream would close the file when it fails
    return { path: pathOf(descriptor), [Symbol.dispose]: () => closeSync(descriptor) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function openNameless(): number {
  const directory = mkdtempSync(join(spoolDirectory(), 'podwright-load-'));
  try {
    return openSync(join(directory, 'images.tar'), 'wx+', PRIVATE_FILE);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const pathOf = (descriptor: number) => `/proc/${process.pid}/fd/${descriptor}`;
