import { isRecord } from '@podwright/base';
import type { FieldPath } from '../issue.ts';
import { reasonToLeaveOut } from '../schema/kinds.ts';
import { readYamlDocuments, type YamlDocument } from '../text/yaml-documents.ts';
import { type Findings, ManifestError } from './manifest-errors.ts';

/** Maximum size of a manifest. Larger ones are rejected without being parsed. */
export const MAX_MANIFEST_BYTES = 4 << 20;
/** Maximum size of a manifest that may contain objects of any kind: the CustomResourceDefinitions of a single project can take up 5 MiB. */
export const MAX_API_MANIFEST_BYTES = 8 << 20;
/** Maximum number of YAML tokens in a manifest that may contain objects of any kind. */
const MAX_API_TOKENS = 500_000;
const MAX_DOCUMENTS = 1000;

/**
 * One object in a document: either the document itself, or the list item at the path `base`. `reason` is set if nodes do not need the
 * object and can ignore it.
 */
export type Part = { file: string; document: YamlDocument; value: unknown; base: FieldPath; reason?: string };

/** Returns the objects in a file. Reports syntax errors, duplicate fields, and a file that is empty or too large. */
export function partsOf(text: string, file: string, { errors, warnings, forApi }: Findings): Part[] {
  const whole = { file, line: 1, column: 1 };
  const refuse = (message: string): Part[] => {
    errors.push(new ManifestError(whole, message));
    return [];
  };
  const maxBytes = forApi ? MAX_API_MANIFEST_BYTES : MAX_MANIFEST_BYTES;
  if (Buffer.byteLength(text) > maxBytes) return refuse(`is larger than ${maxBytes >> 20} MiB`);
  const { documents, problems } = readYamlDocuments(text, MAX_DOCUMENTS, forApi ? MAX_API_TOKENS : undefined);
  for (const problem of problems) errors.push(new ManifestError({ file, ...problem }, problem.message));
  if (documents.length > MAX_DOCUMENTS) return refuse(`holds more than ${MAX_DOCUMENTS} documents`);
  for (const { line, column, message } of documents.flatMap(({ duplicates }) => duplicates))
    warnings.push(new ManifestError({ file, line, column }, message));
  const parts = documents.flatMap((document) => itemsOf({ file, document, value: document.value, base: [] }));
  return parts.length === 0 && problems.length === 0 ? refuse('contains no Kubernetes object') : parts;
}

/** Returns the items of a `List`, `PodList` or similar, where items may omit their kind. Any other value is treated as a single object. */
function itemsOf(part: Part): Part[] {
  const { value, base } = part;
  if (value === null || value === undefined) return [];
  const { apiVersion, kind, items } = value as { apiVersion?: unknown; kind?: unknown; items?: unknown };
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) {
    const reason = typeof kind === 'string' && typeof apiVersion === 'string' && reasonToLeaveOut(kind, apiVersion);
    return [{ ...part, ...(reason ? { reason } : {}) }];
  }
  const implied = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
  return items.flatMap((item: unknown, index) =>
    itemsOf({ ...part, value: isRecord(item) ? { ...implied, ...item } : item, base: [...base, 'items', index] }),
  );
}

/** Returns a note, with its position, that an object is being ignored. */
export function leftOutNote({ file, document, value, base }: Part, reason: string): ManifestError {
  const { kind, metadata } = value as { kind: string; metadata?: { name?: unknown } };
  const name = typeof metadata?.name === 'string' ? ` ${metadata.name.slice(0, 300)}` : '';
  return new ManifestError({ file, ...document.locate(base, 'value') }, `${kind}${name} is left out: ${reason}`);
}

/** Returns the kind, namespace and name of a possibly invalid object, for messages. */
export function nameOfPart({ value }: Part, namespace = 'default'): string {
  const { kind, metadata } = (value ?? {}) as { kind?: unknown; metadata?: { namespace?: unknown; name?: unknown } };
  return kind === 'RuntimeClass'
    ? `RuntimeClass ${metadata?.name}`
    : `${kind} ${metadata?.namespace ?? namespace}/${metadata?.name}`;
}
