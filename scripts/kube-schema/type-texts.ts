/**
 * Combines the facts from .proto files, OpenAPI definitions and Go structs into one text per type
 * (`packages/kube-schema/src/schema/type-text.ts`).
 */
import { type GoField, type GoType, usualGoField } from './go-fields.ts';
import { type Definition, mergeWords } from './openapi-facts.ts';
import { fieldType, type Message, type ProtoField, shortName } from './protobuf-facts.ts';

type Facts = { messages: Message[]; definitions: Map<string, Definition>; goTypes: Map<string, GoType> };

/** Returns one text per Kubernetes type, keyed by the type's short name. */
export function typeTexts({ messages, definitions, goTypes }: Facts): Record<string, string> {
  const whole = withInlined({ messages, definitions, goTypes });
  const texts = messages.map((message): [string, string] => {
    const go = goTypes.get(message.name);
    const definition = whole.get(message.name) ?? {};
    const fields = message.fields
      .toSorted(([one], [other]) => one - other)
      .map((field) => fieldText(field, { message, definition, go }));
    const head = [
      go?.typeMeta ? 'k' : '',
      go?.list ? 'l' : '',
      definition['x-kubernetes-map-type'] === 'atomic' ? 'a' : '',
    ];
    return [shortName(message.name), [head.join(''), ...fields].join('\n')];
  });
  return Object.fromEntries(texts.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Returns the definitions, with one added for each struct that only occurs inlined: the definition of a struct that contains it. */
function withInlined({ messages, definitions, goTypes }: Facts): Map<string, Definition> {
  const result = new Map(definitions);
  // twice, because an inlined struct may itself contain an inlined struct
  for (const _ of [1, 2])
    for (const { name, protoPackage, fields } of messages)
      for (const [number, , type] of fields) {
        const inlined = type.startsWith('.') ? type.slice(1) : `${protoPackage}.${type}`;
        const around = result.get(name);
        const isInlined = goTypes.get(name)?.fields.get(number)?.flags.includes('i');
        if (isInlined && around !== undefined && !result.has(inlined))
          result.set(inlined, { properties: around.properties, required: around.required });
      }
  return result;
}

type Around = { message: Message; definition: Definition; go: GoType | undefined };

/**
 * Returns the line for a field: number, JSON name, type, flags and the words of `mergeWords`; finally `:` and the Go type name, unless it
 * can be derived from the protobuf type.
 */
function fieldText(field: ProtoField, { message, definition, go }: Around): string {
  const [number] = field;
  const usual = usualGoField(field, message.protoPackage);
  const { name, flags, type }: GoField = go?.fields.get(number) ?? usual;
  const property = definition.properties?.[name] ?? {};
  const required = definition.required?.includes(name) ? 'r' : '';
  const words = [number, name || '-', fieldType(field, message.protoPackage), flags + required || '-'];
  return [...words, ...mergeWords(property), ...(type === usual.type ? [] : [`:${type}`])].join(' ');
}
