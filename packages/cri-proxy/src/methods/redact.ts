import type { DescField, DescMessage, Message } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { childMessages } from '@podwright/grpc';
import { REDACTED, redactJsonText } from './redact-json.ts';

/** Secret fields that the CRI does not mark as such: GMSA credentials. */
const ALSO_SECRET: ReadonlySet<string> = new Set(['credential_spec']);

/**
 * Redacts secrets in a message: environment variable values and credentials, even in the JSON of `info` and annotations. Also drops the
 * unknown fields of messages with secrets, because they might be newer secrets. Returns whether any other unknown fields remain.
 */
export function redactMessage(schema: DescMessage, message: Message): boolean {
  return redact(reflect(schema, message));
}

function redact(message: ReflectMessage): boolean {
  const holdsSecrets = message.fields.some(isSecret);
  if (holdsSecrets) message.setUnknown([]);
  let hasUnknown = (message.getUnknown()?.length ?? 0) > 0;
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    if (isSecret(field)) hide(message, field);
    else if (field.fieldKind === 'map' && field.mapKind === 'scalar') redactTexts(message, field);
    else for (const child of childMessages(message, field)) hasUnknown = redact(child) || hasUnknown;
  }
  return hasUnknown;
}

const isSecret = (field: DescField) => field.proto.options?.debugRedact === true || ALSO_SECRET.has(field.name);

function hide(message: ReflectMessage, field: DescField): void {
  const isBytes = field.fieldKind === 'scalar' && field.scalar === 12; // ScalarType.BYTES
  if (field.fieldKind !== 'scalar') message.clear(field);
  else message.set(field, isBytes ? Buffer.from(REDACTED) : REDACTED);
}

/** Redacts secrets in the JSON values of a map field, such as `info`. */
function redactTexts(message: ReflectMessage, field: DescField & { fieldKind: 'map' }): void {
  const map = message.get(field);
  for (const [key, value] of [...map.entries()]) {
    if (typeof value !== 'string') continue;
    const redacted = redactJsonText(value);
    if (redacted !== value) map.set(key, redacted);
  }
}
