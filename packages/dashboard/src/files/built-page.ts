import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { PodwrightError, wrapError } from '@podwright/base';
import { type PageFile, type PageFiles, typeOf } from './page-files.ts';

/** The output directory of `scripts/dashboard-page.ts`. */
const DIRECTORY = join(import.meta.dirname, '../../../../dist/dashboard');

/**
 * Reads the built page. Only used when the command runs from source; in a bundle, this module is replaced by one that contains the files.
 * Rejects with `failed_precondition` if the page has not been built.
 */
export async function readPage(): Promise<PageFiles> {
  try {
    const assets = await readdir(join(DIRECTORY, 'assets'));
    const pairs = assets.map(async (name) => [`/assets/${name}`, await read(join('assets', name))] as const);
    return new Map([['/', await read('index.html')], ...(await Promise.all(pairs))]);
  } catch (error) {
    if (error instanceof PodwrightError) throw error;
    throw wrapError("the page is not built: run 'node scripts/dashboard-page.ts'", error, 'failed_precondition');
  }
}

async function read(name: string): Promise<PageFile> {
  const bytes = await readFile(join(DIRECTORY, name));
  return { type: typeOf(name), gzipped: await promisify(gzip)(bytes) };
}
