/** Reads the messages in Kubernetes' .proto files from `protobuf.json` and converts their names to the short names used in our data. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A field of a protobuf message: number, name, type and label. */
export type ProtoField = readonly [number, string, string, string];

export type Message = { name: string; protoPackage: string; fields: readonly ProtoField[] };

/** Packages whose messages clients never send to an API server, or whose API it does not serve. */
const LEFT_OUT =
  /testapigroup|apiserver\.pkg\.apis\.(?:example|audit)|metrics\.pkg|apiextensions\.v1beta1|apiregistration\.v1beta1/;

export function readMessages(directory: string): Message[] {
  const text = readFileSync(join(directory, 'protobuf.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Record<string, Record<string, ProtoField[]>> };
  return Object.entries(packages)
    .filter(([protoPackage]) => !LEFT_OUT.test(protoPackage))
    .flatMap(([protoPackage, messages]) =>
      Object.entries(messages).map(([name, fields]) => ({ name: `${protoPackage}.${name}`, protoPackage, fields })),
    );
}

/** Protobuf messages that are a single value in JSON, with their type names in the generated schema. */
const VALUES: Record<string, string> = {
  'k8s.io.apimachinery.pkg.api.resource.Quantity': 'quantity',
  'k8s.io.apimachinery.pkg.apis.meta.v1.Time': 'time',
  'k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime': 'microTime',
  'k8s.io.apimachinery.pkg.apis.meta.v1.Duration': 'duration',
  'k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1': 'fieldsV1',
  'k8s.io.apimachinery.pkg.runtime.RawExtension': 'rawExtension',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': 'intOrString',
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON': 'json',
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray': 'schemaOrArray',
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool': 'schemaOrBool',
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray': 'schemaOrStringArray',
};

/** Whether a message is a struct with fields rather than a single value. */
export const isStruct = ({ name }: Message): boolean =>
  VALUES[name] === undefined && !/\.(?:runtime|resource|intstr)\.\w+$/.test(name.replace('.api.resource.v', ''));

/** Returns the short name of a message, such as `core.v1.Pod` for `k8s.io.api.core.v1.Pod`. */
export const shortName = (message: string): string =>
  VALUES[message] ?? message.replace(/^k8s\.io\.(?:api\.|\w+\.pkg\.apis\.)/, '');

/** The type of a field, such as `[]core.v1.Container` or `{}quantity`. */
export function fieldType([, , type, label]: ProtoField, protoPackage: string): string {
  const [, value] = /^map<string, (.*)>$/.exec(type) ?? [];
  if (value !== undefined) return `{}${elementType(value, protoPackage)}`;
  return `${label === 'repeated' ? '[]' : ''}${elementType(type, protoPackage)}`;
}

function elementType(type: string, protoPackage: string): string {
  if (/^(?:string|bool|bytes|int32|int64|double)$/.test(type)) return type;
  return shortName(type.startsWith('.') ? type.slice(1) : `${protoPackage}.${type}`);
}
