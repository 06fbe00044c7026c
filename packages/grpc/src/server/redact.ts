import { clone, type DescField, type DescMessage, type Message, toJson } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';

/** Converts a message to JSON for the log, without the fields marked `debug_redact`. */
export function redactedJson(schema: DescMessage, message: Message): unknown {
  const copy = clone(schema, message);
  removeSecrets(reflect(schema, copy));
  return toJson(schema, copy);
}

function removeSecrets(message: ReflectMessage): void {
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    if (field.proto.options?.debugRedact) message.clear(field);
    else for (const child of childMessages(message, field)) removeSecrets(child);
  }
}

/** Returns the messages contained in a field that is set: the field's value or, for a list or map, its elements. */
export function childMessages(message: ReflectMessage, field: DescField): ReflectMessage[] {
  if (field.fieldKind === 'message') return [message.get(field)];
  if (field.fieldKind === 'list' && field.listKind === 'message') return [...message.get(field)] as ReflectMessage[];
  if (field.fieldKind === 'map' && field.mapKind === 'message') {
    return [...message.get(field).values()] as ReflectMessage[];
  }
  return [];
}
