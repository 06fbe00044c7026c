import { isJsonObject, type JsonObject } from '../json.ts';
import type { CustomSchema } from '../schema/custom-schema.ts';
import type { StructType } from '../schema/field.ts';
import type { Schema } from '../schema/schema.ts';
import { withDefaults } from './custom-defaults.ts';
import { JsonDecoder } from './json-decoder.ts';
import { decodeError, formatPath, type JsonPath, Problems, rootContext } from './problems.ts';
import { pruned } from './prune.ts';

const METADATA = 'meta.v1.ObjectMeta';

type CustomDecoding = { schema: Schema; type: StructType; duplicates: readonly JsonPath[] };

/** Decodes an object of a custom kind: removes undeclared fields, applies the defaults of its schema, and requires valid metadata. */
export function decodeCustom(
  value: unknown,
  { schema, type, duplicates }: CustomDecoding,
): { object: JsonObject; problems: string[] } {
  if (!isJsonObject(value))
    throw decodeError(`json: cannot unmarshal ${typeof value} into Go value of type map[string]interface {}`);
  const [fieldProblems, problems] = [new Problems(duplicates), new Problems([])];
  fieldProblems.allDuplicates();
  const metadata = (one: unknown, path: JsonPath) =>
    one === null ? null : decodedMetadata(one, { schema, path, problems });
  const root: CustomSchema = { ...type.custom!.schema, 'x-kubernetes-embedded-resource': true };
  const unknown: JsonPath[] = [];
  const removed = (path: JsonPath) => unknown.push(path);
  const kept = pruned(value, { schema: root, path: [] }, { removed, metadata }) as JsonObject;
  for (const path of unknown.toSorted((a, b) => (formatPath(a) < formatPath(b) ? -1 : 1)))
    fieldProblems.unknownField(path);
  const { apiVersion, kind, metadata: own, ...fields } = kept;
  const { properties = {} } = root;
  const others = Object.entries(properties).filter(([name]) => !OBJECT_FIELDS.includes(name));
  const rest = withDefaults(fields, { ...root, properties: Object.fromEntries(others) }) as JsonObject;
  const object: JsonObject = {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata: own ?? {},
    ...rest,
  };
  return { object, problems: [...fieldProblems.strict, ...problems.strict] };
}

type MetadataDecoding = { schema: Schema; path: JsonPath; problems: Problems };

/** Decodes the metadata of the custom object, or of an object embedded in it. */
function decodedMetadata(value: unknown, { schema, path, problems }: MetadataDecoding): unknown {
  const own = new Problems([]);
  try {
    const metadata = new JsonDecoder(schema, own).struct(schema.type(METADATA), value, rootContext(path, 'ObjectMeta'));
    own.check();
    problems.merge(own);
    return metadata;
  } catch (error) {
    if (path.length === 1 || !(error instanceof Error)) throw error;
    throw decodeError(`${formatPath(path)}: Invalid value: ${JSON.stringify(value)}: ${error.message}`);
  }
}

const OBJECT_FIELDS = ['apiVersion', 'kind', 'metadata'];
