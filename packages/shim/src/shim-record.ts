import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, PodwrightError, wrapError } from '@podwright/base';
import { writeFileAtomic } from '@podwright/host';
import type { ShimEndpoint } from './shim-endpoint.ts';

/** Version of new records. Records without a version have the previous format, which is otherwise identical. */
const RECORD_VERSION = 1;

const recordOf = (bundle: string) => join(bundle, 'shim.json');

/** Records the endpoint of a bundle's shim in the bundle. */
export async function writeEndpoint(bundle: string, { version, address }: ShimEndpoint): Promise<void> {
  await writeFileAtomic(recordOf(bundle), JSON.stringify({ recordVersion: RECORD_VERSION, version, address }));
}

/** Reads the endpoint of a bundle's shim; `undefined` if there is no record. Throws `data_loss` with the path if the record is damaged. */
export async function readEndpoint(bundle: string): Promise<ShimEndpoint | undefined> {
  const path = recordOf(bundle);
  const text = await readIfThere(path);
  if (text !== undefined) return decodeEndpoint(text, path);
  // There is no record if the runtime was killed before the shim's binary responded. In that case, use the address that containerd 1.x
  // shims write to this file themselves.
  const address = await readIfThere(join(bundle, 'address'));
  return address ? { version: 2, address } : undefined;
}

function decodeEndpoint(text: string, path: string): ShimEndpoint {
  let record: { recordVersion?: unknown; version?: unknown; address?: unknown } | null = null;
  let cause: unknown;
  try {
    record = JSON.parse(text);
  } catch (error) {
    cause = error;
  }
  const { recordVersion = RECORD_VERSION, version, address } = record ?? {};
  if (recordVersion === RECORD_VERSION && (version === 2 || version === 3) && typeof address === 'string')
    return { version, address };
  throw new PodwrightError('data_loss', `the record ${path} is damaged`, { cause });
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw wrapError(`read ${path}`, error, 'internal');
  }
}
