import { resolve } from 'node:path';
import * as z from 'zod';

/** A path. A relative one is resolved against the working directory. */
export const path = z
  .string()
  .min(1)
  .transform((value) => resolve(value));

/** Like `path`, or '' for no path. */
export const optionalPath = z.string().transform((value) => (value === '' ? '' : resolve(value)));
