import { readFile } from 'node:fs/promises';
import { isErrno, PodwrightError, wrapError, writeFileAtomic } from '@podwright/base';
import * as z from 'zod';

/** Of the records that are written; those without a number are of the format before it, which differs in nothing else. */
const RECORD_VERSION = 1;

const versionSchema = z.object({ version: z.literal(RECORD_VERSION).optional() });

/** A shim's binary and its settings, as records have them (`ShimProgram`). */
export const shimProgramSchema = z.object({
  path: z.string(),
  options: z.object({ typeUrl: z.string(), value: z.string() }).optional(),
});

/** Writes a record so that a crash leaves the one before it or this one. */
export async function writeRecord(path: string, record: object): Promise<void> {
  await writeFileAtomic(path, JSON.stringify({ version: RECORD_VERSION, ...record }));
}

/** The record at this path, `undefined` if there is none; `data_loss`, with the path, for one that is damaged. */
export async function readRecord<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw wrapError(`read the record ${path}`, error, 'internal');
  }
  try {
    const record: unknown = JSON.parse(text);
    versionSchema.parse(record);
    return schema.parse(record);
  } catch (cause) {
    const [issue] = cause instanceof z.ZodError ? cause.issues : [];
    const why = issue === undefined ? 'it is not JSON' : `${issue.path.join('.')}: ${issue.message}`;
    throw new PodwrightError('data_loss', `the record ${path} is damaged: ${why}`, { cause });
  }
}
