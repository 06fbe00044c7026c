/**
 * Reads the structs in Kubernetes' Go modules for facts that are missing from both its OpenAPI document and its .proto files: JSON names
 * that differ from protobuf's, inlined structs, pointers, `omitempty`, and the type names in errors of Go's JSON decoder.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Message, ProtoField } from './protobuf-facts.ts';

/** A field in Go: its JSON name ('' if inlined), flags and type. Flags: `p` pointer, `e` omitempty, `z` omitzero, `i` inlined. */
export type GoField = { name: string; flags: string; type: string };

/**
 * A struct's fields by protobuf number. `typeMeta`: it has `kind` and `apiVersion` in JSON only. `list`: it is a list type, such as `type
 * Verbs []string`.
 */
export type GoType = { fields: Map<number, GoField>; typeMeta: boolean; list: boolean };

/** The modules' checkout directories, and the package prefixes of their .proto files. */
const MODULES: Record<string, string> = {
  api: 'k8s.io.api',
  apimachinery: 'k8s.io.apimachinery',
  'apiextensions-apiserver': 'k8s.io.apiextensions_apiserver',
  'kube-aggregator': 'k8s.io.kube_aggregator',
};

const STRUCT = /^type (\w+) struct \{\n(.*?)^\}/gms;
const FIELD = /^\t(?:\w+[ \t]+)?([\w.*[\]]+)[ \t]+`([^`]*)`/gm;
const LIST = /^type (\w+) \[\]/gm;

/** Reads the Go types of all modules below `directory`, by the names of their messages. */
export function readGoTypes(directory: string): Map<string, GoType> {
  const types = new Map<string, GoType>();
  for (const [module, prefix] of Object.entries(MODULES))
    for (const file of globSync('**/*.go', { cwd: join(directory, module) })) {
      const parts = dirname(file).split('/');
      const source = readFileSync(join(directory, module, file), 'utf8');
      const name = (type: string) => [prefix, ...parts, type].join('.');
      for (const [, type, body] of source.matchAll(STRUCT)) types.set(name(type!), goStruct(body!, parts.at(-1)!));
      for (const [, type] of source.matchAll(LIST))
        types.set(name(type!), { fields: new Map(), typeMeta: false, list: true });
    }
  return types;
}

function goStruct(body: string, goPackage: string): GoType {
  const type: GoType = { fields: new Map(), typeMeta: false, list: false };
  for (const [, written = '', tags = ''] of body.matchAll(FIELD)) {
    if (/(?:^|\.)TypeMeta$/.test(written)) type.typeMeta = true;
    const number = Number(/protobuf:"\w+,(\d+)/.exec(tags)?.[1]);
    if (Number.isNaN(number)) continue;
    const [name = '', ...options] = (/json:"([^"]*)"/.exec(tags)?.[1] ?? '').split(',');
    const has = (option: string, flag: string) => (options.includes(option) ? flag : '');
    const pointer = written.startsWith('*') ? 'p' : '';
    const flags = pointer + has('omitempty', 'e') + has('omitzero', 'z') + has('inline', 'i');
    type.fields.set(number, { name, flags, type: reflectedName(written.replace(/^\*/, ''), goPackage) });
  }
  return type;
}

const BASIC = /^(?:string|bool|u?int(?:8|32|64)?|float64)$/;

/** The name that Go's reflection gives a type: with the package's own name, not an alias of the import. */
function reflectedName(type: string, goPackage: string): string {
  return type.replace(/\bbyte$/, 'uint8').replace(/[\w.]+$/, (name) => {
    if (name.includes('.')) return name.replace(/^\w*(v\d\w*)\./, '$1.');
    return BASIC.test(name) ? name : `${goPackage}.${name}`;
  });
}

/** The most frequent form of a field in Go, which `go-fields.txt` does not list. */
export function usualGoField([, name, type, label]: ProtoField, protoPackage: string): GoField {
  const value = /^map<string, (.*)>$/.exec(type)?.[1];
  if (value !== undefined) return { name, flags: 'e', type: `map[string]${usualGoType(value, protoPackage)}` };
  const named = usualGoType(type, protoPackage);
  if (label === 'repeated') return { name, flags: name === 'items' ? '' : 'e', type: `[]${named}` };
  return { name, flags: type in SCALARS || /(?:Meta|Spec|Status)$/.test(type) ? 'e' : 'pe', type: named };
}

const SCALARS: Record<string, string> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  bytes: '[]uint8',
};

function usualGoType(type: string, protoPackage: string): string {
  const parts = (type.startsWith('.') ? type : `${protoPackage}.${type}`).split('.');
  return SCALARS[type] ?? parts.slice(-2).join('.');
}

/** One line for each message with unusual fields: its name, `typeMeta` or `list`, and `NUMBER=NAME,FLAGS,TYPE` for each such field. */
export function formatGoTypes(types: Map<string, GoType>, messages: Message[]): string {
  const lines = messages.flatMap(({ name, protoPackage, fields }) => {
    const type = types.get(name);
    if (type === undefined) return [];
    const unusual = fields.flatMap((field) => {
      const [number] = field;
      const go = type.fields.get(number);
      if (go === undefined) return [];
      const text = formatField(go);
      return text === formatField(usualGoField(field, protoPackage)) ? [] : [`${number}=${text}`];
    });
    const words = [type.typeMeta ? 'typeMeta' : '', type.list ? 'list' : '', ...unusual].filter((word) => word !== '');
    return words.length === 0 ? [] : [[name, ...words].join(' ')];
  });
  return `${lines.join('\n')}\n`;
}

const formatField = ({ name, flags, type }: GoField): string => `${name},${flags},${type}`;

/** Reads what `formatGoTypes` wrote. */
export function parseGoTypes(text: string): Map<string, GoType> {
  return new Map(
    text
      .trimEnd()
      .split('\n')
      .map((line) => {
        const [message = '', ...words] = line.split(' ');
        const fields = words.flatMap((word): [number, GoField][] => {
          const [, number, name = '', flags = '', type = ''] = /^(\d+)=([^,]*),([^,]*),(.*)$/.exec(word) ?? [];
          return number === undefined ? [] : [[Number(number), { name, flags, type }]];
        });
        return [
          message,
          { fields: new Map(fields), typeMeta: words.includes('typeMeta'), list: words.includes('list') },
        ];
      }),
  );
}
