import { badRequest } from '@podwright/api-machinery';
import { type IncludeObject, loadCustomTables, loadTables, type TableOptions } from '@podwright/api-tables';
import type { ApiObject } from '@podwright/kube-kinds';
import type { JsonObject } from '@podwright/kube-schema';
import type { Conversion } from './negotiation.ts';
import { type AnyObject, decoded, metadataOf, type ResourceEncoding } from './response-content.ts';

const INCLUDES: readonly string[] = ['', 'None', 'Metadata', 'Object'] satisfies (IncludeObject | '')[];

/** Reads the `includeObject` query parameter. Throws 400 if its value is unknown. */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const sent = query.get('includeObject') ?? '';
  if (!INCLUDES.includes(sent))
    throw badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(sent)}: must be 'Metadata', 'Object', 'None', or empty`,
    );
  return sent === '' ? 'Metadata' : (sent as IncludeObject);
}

type TableContent = Pick<TableOptions, 'resourceVersion' | 'continue' | 'remainingItemCount' | 'noHeaders'> & {
  objects: readonly AnyObject[];
};

/** Converts objects to a table. Columns are computed from the stored version; the objects included in the rows are in the URL's version. */
export async function tableValue(
  { objects, ...content }: TableContent,
  { version }: Conversion,
  { schema, resource, toStored, includeObject, nowMs }: ResourceEncoding,
): Promise<JsonObject> {
  const custom = schema.kind(resource)?.custom;
  const kindTable = custom && (await loadCustomTables()).customTable(custom.columns);
  const { tableOf } = await loadTables();
  const served = objects.map(decoded);
  const stored = toStored === undefined || custom !== undefined ? served : served.map(toStored);
  const table = tableOf(resource, stored, { ...content, includeObject: 'Object', nowMs, kindTable });
  const servedOf = new Map<object, ApiObject>(stored.map((object, index) => [object, served[index]!]));
  const rows = table.rows.map(({ object, ...row }) => ({
    ...row,
    object: partOf(servedOf.get(object!)!, includeObject, version),
  }));
  return { ...table, apiVersion: `meta.k8s.io/${version}`, rows };
}

function partOf(object: ApiObject, include: IncludeObject, version: Conversion['version']): object | null {
  if (include === 'Object') return object;
  return include === 'None' ? null : metadataOf(object, { version });
}
