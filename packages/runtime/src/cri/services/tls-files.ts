import { readFile } from 'node:fs/promises';
import { PodwrightError, wrapError } from '@podwright/base';

/**
 * Reads PEM files and replaces each path with the file's contents. Throws `failed_precondition` naming the file if it is unreadable or not
 * PEM.
 */
export async function readTlsFiles<Name extends string>(
  files: Record<Name, string> | undefined,
): Promise<Record<Name, Buffer> | undefined> {
  if (files === undefined) return undefined;
  const read = Object.entries<string>(files).map(async ([name, path]) => [name, await readPem(path)] as const);
  return Object.fromEntries(await Promise.all(read)) as Record<Name, Buffer>;
}

async function readPem(path: string): Promise<Buffer> {
  const content = await readFile(path).catch((cause: unknown) => {
    throw wrapError(`read TLS file ${path}`, cause, 'failed_precondition');
  });
  if (content.includes('-----BEGIN ')) return content;
  throw new PodwrightError('failed_precondition', `read TLS file ${path}: it is not in PEM format`);
}
