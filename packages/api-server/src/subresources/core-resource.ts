import type { Resource, Schema } from '@podwright/kube-schema';

/** Returns a v1 resource of the core group by its plural name. */
export const coreResource = (schema: Schema, plural: string): Resource => schema.resource('', 'v1', plural)!;
