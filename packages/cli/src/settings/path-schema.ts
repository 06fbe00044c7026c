import { resolve } from 'node:path';
import * as z from 'zod';

/** Schema of a path. Relative paths are resolved against the working directory. */
export const path = z
  .string()
  .min(1)
  .transform((value) => resolve(value));

/** Like `path`, but also allows '', which means no path. */
export const optionalPath = z.string().transform((value) => (value === '' ? '' : resolve(value)));
