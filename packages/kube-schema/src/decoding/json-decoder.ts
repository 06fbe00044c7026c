import { fieldOf, isJsonObject, type JsonObject, setField } from '../json.ts';
import { type Field, isScalarType, isStructType, type StructType, type ValueType } from '../schema/field.ts';
import { structOf, zeroOf } from '../schema/go-json.ts';
import type { Schema } from '../schema/schema.ts';
import { type Context, Problems, pathOf, rootContext } from './problems.ts';
import { readScalar } from './scalar-readers.ts';
import { VALUE_READERS } from './value-readers.ts';

/** The name of a value's type in the schema, and its Go type as shown in error messages. */
type Target = { type: string; goType: string };

/**
 * Decodes JSON as Go decodes it into structs, and returns the JSON that Go would encode from them. Values of the wrong type count as
 * absent.
 */
export class JsonDecoder {
  readonly #schema: Schema;
  readonly #problems: Problems;
  readonly #decoded: JsonObject | undefined;

  /** `decoded`: an already decoded object. Parts that the root object shares with it are not decoded again. */
  constructor(schema: Schema, problems: Problems, decoded?: JsonObject) {
    this.#schema = schema;
    this.#problems = problems;
    this.#decoded = decoded;
  }

  /** Decodes an object. If the value is not an object, reports a problem and returns `undefined`. */
  struct(type: StructType, value: unknown, context: Context): JsonObject | undefined {
    if (!isJsonObject(value)) {
      const goType = type.name.split('.').slice(-2).join('.');
      this.#problems.wrongType(value, { type: 'struct', goType }, context);
      return undefined;
    }
    const values = new Map<Field, unknown>();
    const struct = type.name.slice(type.name.lastIndexOf('.') + 1);
    for (const [name, one] of Object.entries(value)) {
      const field = type.byName.get(name);
      const inner: Context = { struct, below: { above: context, step: name, field: name } };
      if (field === undefined) this.#problems.unknownField(pathOf(inner));
      else {
        this.#problems.knownField(inner);
        const decoded =
          one === null ? undefined : this.#isDecoded(name, one, inner) ? one : this.#field(field, one, inner);
        if (decoded !== undefined) values.set(field, decoded);
      }
    }
    return structOf(this.#schema, type, values);
  }

  #isDecoded(name: string, value: unknown, { below }: Context): boolean {
    if (this.#decoded === undefined || typeof value !== 'object') return false;
    return 'above' in below && 'root' in below.above.below && fieldOf(this.#decoded, name) === value;
  }

  #field(field: Field, value: unknown, context: Context): unknown {
    const { type, container, goType } = field;
    if (container === 'none') return this.#value({ type, goType }, value, context);
    const element = { type, goType: elementName(field, this.#schema) };
    return container === 'list'
      ? this.#list({ element, goType }, value, context)
      : this.#map({ element, goType }, value, context);
  }

  #list(
    { element, goType }: { element: Target; goType: string },
    value: unknown,
    context: Context,
  ): unknown[] | undefined {
    if (Array.isArray(value))
      return value.map((one, step) => this.#element(element, one, elementContext(context, step)));
    this.#problems.wrongType(value, { type: 'list', goType }, context);
    return undefined;
  }

  #map(
    { element, goType }: { element: Target; goType: string },
    value: unknown,
    context: Context,
  ): JsonObject | undefined {
    if (!isJsonObject(value)) {
      this.#problems.wrongType(value, { type: 'map', goType }, context);
      return undefined;
    }
    const result: JsonObject = {};
    for (const [key, one] of Object.entries(value)) {
      const inner = elementContext(context, key);
      this.#problems.knownField(inner);
      setField(result, key, this.#element(element, one, inner));
    }
    return result;
  }

  /** Decodes a list element or map value. Null becomes the zero value, because an element is never absent. */
  #element(target: Target, value: unknown, context: Context): unknown {
    const decoded = value === null ? undefined : this.#value(target, value, context);
    return decoded ?? zeroOf(this.#schema, target.type);
  }

  #value({ type, goType }: Target, value: unknown, context: Context): unknown {
    if (isScalarType(type)) return readScalar(value, type, { goType, context, problems: this.#problems });
    if (isStructType(type)) {
      const struct = this.#schema.type(type);
      if (!struct.isList) return this.struct(struct, value, context);
      return this.#list({ element: { type: struct.fields[0]!.type, goType: 'string' }, goType }, value, context);
    }
    return VALUE_READERS[type as ValueType](value, this.#problems.shown(context), (inner) => this.#customSchema(inner));
  }

  /**
   * Decodes a custom resource schema nested in another value. Ignores unknown fields, because Go uses a separate decoder for nested
   * schemas.
   */
  #customSchema(value: unknown): unknown {
    const problems = new Problems([]);
    const decoder = new JsonDecoder(this.#schema, problems);
    const type = this.#schema.type('apiextensions.v1.JSONSchemaProps');
    const decoded = decoder.struct(type, value ?? {}, rootContext());
    problems.check();
    return decoded;
  }
}

const elementContext = (above: Context, step: string | number): Context => ({
  struct: above.struct,
  below: { above, step },
});

/** Returns Go's name for the element type of a list or map. It is derived from the field's Go type, unless that is a named type. */
function elementName({ type, goType }: Field, schema: Schema): string {
  const written = /^(?:\[\]|map\[\w*\])(.+)$/.exec(goType)?.[1];
  if (written !== undefined) return written;
  return isStructType(type) ? schema.type(type).name.split('.').slice(-2).join('.') : type;
}
