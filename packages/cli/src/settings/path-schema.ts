import { resolve } from 'node:path';
import * as z from 'zod';

/** A path; a relative one is below the working directory. */
export const path = z
  .string()
  .min(1)
  .transform((value) => resolve(value));

/** As `path`, or '' for none. */
export const optionalPath = z.string().transform((value) => (value === '' ? '' : resolve(value)));
