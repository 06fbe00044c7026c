import type { FieldPath } from '../issue.ts';
import type { ConfigMap, ManifestObject, PersistentVolumeClaim, Pod, RuntimeClass, Secret } from '../objects/types.ts';
import type { TextPosition } from '../text/text-lines.ts';
import { decodeOtherPart, decodePart, type PlacedObject, type PlacedOther } from './decode-part.ts';
import { type ErrorList, Findings, ManifestError } from './manifest-errors.ts';
import { leftOutNote, nameOfPart, type Part, partsOf } from './manifest-parts.ts';
import { isOtherKind } from './other-objects.ts';
import { type DecodedTemplate, templatesOf } from './pod-templates.ts';

/** The text of a manifest, and its file name for error messages. */
export type ManifestText = { file: string; text: string };

/** The result of decoding manifests: the valid objects with their defaults, in manifest order. Invalid objects are omitted. */
export type DecodedManifest = {
  objects: PlacedObject[];
  pods: Pod[];
  configMaps: ConfigMap[];
  secrets: Secret[];
  runtimeClasses: RuntimeClass[];
  claims: PersistentVolumeClaim[];
  errors: ManifestError[];
  /** Names of the objects that have errors, such as `Secret default/a`. */
  refused: string[];
  /** Notes on the ignored objects (those that a standalone node does not need), one per object. */
  leftOut: ManifestError[];
  /** Problems that do not prevent decoding, such as duplicate fields. */
  warnings: ManifestError[];
  /** Objects of kinds supported only by nodes that serve the Kubernetes API; empty unless the option `otherKinds` is set. */
  others: PlacedOther[];
  /**
   * Whether any object or template has a kind or field supported only by nodes that serve the Kubernetes API. Always false without the
   * option `otherKinds`.
   */
  needsApi: boolean;
  /** The workloads' valid pods; empty unless the option `templates` is set. */
  templates: DecodedTemplate[];
  /** Returns the position of a field in one of the objects or in a template's pod. */
  placeOf: (
    object: ManifestObject,
    path: FieldPath,
    at: 'key' | 'value',
  ) => (TextPosition & { file: string }) | undefined;
};

/**
 * `templates` also decodes the pods of workloads, even though the workloads themselves are rejected unless `otherKinds` is set.
 * `otherKinds` is for nodes that serve the Kubernetes API: it accepts objects of any kind, and fields that require the API. `strict` turns
 * ignored objects and warnings into errors. `namespace` is set on objects that have no namespace; objects in any other namespace are
 * rejected.
 */
export type DecodeOptions = { strict?: boolean; namespace?: string; templates?: boolean; otherKinds?: boolean };

/**
 * Decodes a YAML or JSON manifest with any number of documents. Every unknown or unsupported field, wrong type and invalid value is
 * reported as an error with its position. `file` is used only in messages. Objects not needed by pods are ignored, unless the manifest
 * contains nothing else.
 */
export function decodeManifest(text: string, { file, ...options }: { file: string } & DecodeOptions): DecodedManifest {
  return decodeManifests([{ file, text }], options);
}

/** Decodes several manifests together. Limits and positions are per manifest. */
export function decodeManifests(texts: readonly ManifestText[], options: DecodeOptions = {}): DecodedManifest {
  const found = new Findings(options);
  const parts = texts.flatMap(({ file, text }) => partsOf(text, file, found));
  const leaveOut = parts.some(({ reason }) => reason === undefined) && !found.strict;
  const placed: PlacedObject[] = [];
  const placedOthers: PlacedOther[] = [];
  const refused: string[] = [];
  const partOf = new Map<ManifestObject, Part>();
  for (const part of parts) {
    if (options.otherKinds && isOtherKind(part.value)) {
      const other = decodeOtherPart(part, found.errors, options.namespace);
      if (other === undefined) refused.push(nameOfPart(part, options.namespace));
      else placedOthers.push(other);
      continue;
    }
    if (part.reason !== undefined && leaveOut) {
      found.leftOut.push(leftOutNote(part, part.reason));
      continue;
    }
    const one = decodePart(part, found, options.namespace);
    if (one === undefined) refused.push(nameOfPart(part, options.namespace));
    else {
      partOf.set(one.object, part);
      placed.push(one);
    }
  }
  const objects = withoutDuplicates(placed, found.errors);
  const others = withoutDuplicates(placedOthers, found.errors);
  const templates = options.templates
    ? templatesOf(parts, { objects, found, partOf, namespace: options.namespace })
    : [];
  const files = texts.map(({ file }) => file);
  return {
    ...byKind(objects),
    errors: found.errors.list(files),
    refused,
    leftOut: found.leftOut.list(files),
    warnings: found.warnings === found.errors ? [] : found.warnings.list(files),
    others,
    needsApi: found.needsApi || others.length > 0,
    templates,
    placeOf: (object, path, at) => {
      const part = partOf.get(object);
      return part && { file: part.file, ...part.document.locate([...part.base, ...path], at) };
    },
  };
}

function byKind(objects: PlacedObject[]) {
  const only = <K extends ManifestObject['kind']>(kind: K) =>
    objects.map(({ object }) => object).filter((object) => object.kind === kind) as Extract<
      ManifestObject,
      { kind: K }
    >[];
  return {
    objects,
    pods: only('Pod'),
    configMaps: only('ConfigMap'),
    secrets: only('Secret'),
    runtimeClasses: only('RuntimeClass'),
    claims: only('PersistentVolumeClaim'),
  };
}

/** Removes objects with the same kind, namespace and name as an earlier one. Reports an error with both positions for each. */
export function withoutDuplicates<T extends PlacedObject | PlacedOther>(
  objects: T[],
  errors: Pick<ErrorList, 'push'>,
): T[] {
  const first = new Map<string, T>();
  return objects.filter((placed) => {
    const { apiVersion, kind, metadata } = placed.object;
    const name = metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    const key = `${group} ${kind} ${name}`;
    const other = first.get(key);
    if (other === undefined) {
      first.set(key, placed);
      return true;
    }
    const where = `${other.file}:${other.line}:${other.column}`;
    errors.push(
      new ManifestError({ ...placed, path: 'metadata.name' }, `${kind} ${name} is already defined at ${where}`),
    );
    return false;
  });
}
