import type { Resource, Schema } from '@podwright/kube-schema';

/** A resource of the core group. */
export const coreResource = (schema: Schema, plural: string): Resource => schema.resource('', 'v1', plural)!;
