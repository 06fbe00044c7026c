import { readFile } from 'node:fs/promises';
import { isErrno, PodwrightError, wrapError } from '@podwright/base';
import { writeFileAtomic } from '@podwright/host';
import * as z from 'zod';

/** Version of new records. Records without a version have the previous format, which is the same apart from the version. */
const RECORD_VERSION = 1;

const versionSchema = z.object({ version: z.literal(RECORD_VERSION).optional() });

/** Schema for a shim's binary and options (`ShimProgram`) in records. */
export const shimProgramSchema = z.object({
  path: z.string(),
  options: z.object({ typeUrl: z.string(), value: z.string() }).optional(),
});

/** Writes a record atomically: after a crash, the file contains either the old or the new record. */
export async function writeRecord(path: string, record: object): Promise<void> {
  await writeFileAtomic(path, JSON.stringify({ version: RECORD_VERSION, ...record }));
}

/** Reads the record at this path; returns `undefined` if there is none. Throws `data_loss` with the path if it is damaged. */
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
