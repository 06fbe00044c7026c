/**
 * Encodes an OpenAPI 2.0 document as gnostic's protobuf messages (openapiv2/OpenAPIv2.proto), which kubectl requests. Supports everything
 * that Kubernetes documents contain and omits the rest. Numeric arguments are protobuf field numbers.
 */
import type { JsonObject } from '@podwright/kube-schema';
import { GnosticMessage } from './gnostic-message.ts';

type Entries = Record<string, unknown>;
type Write = (message: GnosticMessage, value: Entries) => void;

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];
/**
 * Field numbers for non-body parameters. `number`: the field of NonBodyParameter for this parameter type. `type`: the number of its `type`
 * field.
 */
const PARAMETER_KINDS: Readonly<Record<string, { number: number; type: number }>> = {
  header: { number: 1, type: 5 },
  formData: { number: 2, type: 6 },
  query: { number: 3, type: 6 },
  path: { number: 4, type: 5 },
};

export function encodeGnosticV2(document: JsonObject): Uint8Array {
  const message = new GnosticMessage();
  message.text(1, document.swagger);
  nested(message, [2, writeInfo], document.info);
  message.message(8, (paths) => named(paths, [2, writePathItem], document.paths));
  message.message(9, (definitions) => named(definitions, [1, writeSchema], document.definitions));
  for (const requirement of listOf(document.security)) nested(message, [12, writeSecurityRequirement], requirement);
  message.message(13, (definitions) => named(definitions, [1, writeApiKey], document.securityDefinitions));
  return message.finish();
}

const entriesOf = (value: unknown) => Object.entries((value ?? {}) as Entries);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function nested(message: GnosticMessage, [number, write]: [number, Write], value: unknown): void {
  if (value !== undefined) message.message(number, (inner) => write(inner, value as Entries));
}

/** Writes a map as a list of gnostic messages, each with a name and a value (such as NamedSchema). */
function named(message: GnosticMessage, [number, write]: [number, Write], value: unknown): void {
  for (const [name, one] of entriesOf(value))
    message.message(number, (entry) => {
      entry.text(1, name);
      nested(entry, [2, write], one);
    });
}

/**
 * Writes the vendor extensions of an OpenAPI object: its fields whose names start with `x-`. gnostic expects their values as YAML, so JSON
 * is valid.
 */
function extensions(message: GnosticMessage, number: number, value: Entries): void {
  for (const [name, one] of Object.entries(value))
    if (name.startsWith('x-'))
      message.message(number, (entry) => {
        entry.text(1, name);
        writeAny(entry, 2, one);
      });
}

const writeAny = (message: GnosticMessage, number: number, value: unknown): void =>
  message.message(number, (any) => any.text(2, `${JSON.stringify(value)}\n`));

const writeInfo: Write = (message, { title, version }) => {
  message.text(1, title);
  message.text(2, version);
};

const writeSecurityRequirement: Write = (message, requirement) =>
  named(message, [1, (names, list) => names.texts(1, Object.values(list))], requirement);

const writeApiKey: Write = (message, { type, name, in: place, description }) =>
  message.message(2, (key) => {
    key.text(1, type);
    key.text(2, name);
    key.text(3, place);
    key.text(4, description);
  });

const writePathItem: Write = (message, item) => {
  METHODS.forEach((method, index) => {
    nested(message, [index + 2, writeOperation], item[method]);
  });
  for (const parameter of listOf(item.parameters)) nested(message, [9, writeParameter], parameter);
};

const writeOperation: Write = (message, operation) => {
  message.texts(1, operation.tags);
  message.text(3, operation.description);
  message.text(5, operation.operationId);
  message.texts(6, operation.produces);
  message.texts(7, operation.consumes);
  for (const parameter of listOf(operation.parameters)) nested(message, [8, writeParameter], parameter);
  message.message(9, (responses) => named(responses, [1, writeResponse], operation.responses));
  message.texts(10, operation.schemes);
  extensions(message, 13, operation);
};

const writeResponse: Write = (message, { description, schema }) =>
  message.message(1, (response) => {
    response.text(1, description);
    if (schema !== undefined) response.message(2, (item) => nested(item, [1, writeSchema], schema));
  });

/** Writes a parameter as nested messages: ParametersItem → Parameter → BodyParameter or NonBodyParameter. */
const writeParameter: Write = (item, parameter) =>
  item.message(1, (message) => {
    if (parameter.in === 'body') nested(message, [1, writeBody], parameter);
    else if (Object.hasOwn(PARAMETER_KINDS, String(parameter.in))) nested(message, [2, writeNonBody], parameter);
  });

const writeBody: Write = (message, { description, name, in: place, required, schema }) => {
  message.text(1, description);
  message.text(2, name);
  message.text(3, place);
  message.flag(4, required);
  nested(message, [5, writeSchema], schema);
};

const writeNonBody: Write = (message, { required, in: place, description, name, type }) => {
  const kind = PARAMETER_KINDS[String(place)]!;
  message.message(kind.number, (parameter) => {
    parameter.flag(1, required);
    parameter.text(2, place);
    parameter.text(3, description);
    parameter.text(4, name);
    parameter.text(kind.type, type);
  });
};

const writeSchema: Write = (message, schema) => {
  message.text(1, schema.$ref);
  message.text(2, schema.format);
  message.text(3, schema.title);
  message.text(4, schema.description);
  if (schema.default !== undefined) writeAny(message, 5, schema.default);
  writeLimits(message, schema);
  message.texts(19, schema.required);
  const { additionalProperties, items, properties, type, externalDocs, example } = schema;
  for (const one of listOf(schema.enum)) writeAny(message, 20, one);
  if (additionalProperties !== undefined)
    message.message(21, (item) => {
      if (additionalProperties === true) item.flag(2, true);
      else nested(item, [1, writeSchema], additionalProperties);
    });
  if (type !== undefined) message.message(22, (item) => item.text(1, type));
  if (items !== undefined) message.message(23, (item) => nested(item, [1, writeSchema], items));
  if (properties !== undefined) message.message(25, (list) => named(list, [1, writeSchema], properties));
  nested(message, [29, writeExternalDocs], externalDocs);
  if (example !== undefined) writeAny(message, 30, example);
  extensions(message, 31, schema);
};

/** Writes the value constraints of a schema, such as `maximum` and `pattern`. Only custom kinds have them. */
const writeLimits: Write = (message, schema) => {
  message.double(6, schema.multipleOf);
  message.double(7, schema.maximum);
  message.flag(8, schema.exclusiveMaximum);
  message.double(9, schema.minimum);
  message.flag(10, schema.exclusiveMinimum);
  message.integer(11, schema.maxLength);
  message.integer(12, schema.minLength);
  message.text(13, schema.pattern);
  message.integer(14, schema.maxItems);
  message.integer(15, schema.minItems);
  message.flag(16, schema.uniqueItems);
  message.integer(17, schema.maxProperties);
  message.integer(18, schema.minProperties);
};

const writeExternalDocs: Write = (message, { description, url }) => {
  message.text(1, description);
  message.text(2, url);
};
