import { PodwrightError } from '@podwright/base';
import {
  type DecodedManifest,
  decodeManifests,
  MAX_MANIFEST_BYTES,
  type ManifestText,
  type OtherObject,
} from '@podwright/kube-api';
import { printError } from '../output/terminal-text.ts';
import { readSources } from './manifest-sources.ts';

/** The options for commands that read manifests: -f, -R, --strict and -n. */
export type ManifestOptions = { filename?: string[]; recursive?: boolean; strict?: boolean; namespace?: string };

/** Identifies an object in a manifest. */
export type ManifestObject = { kind: string; namespace: string; name: string };

/** Returns whether the node has a Kubernetes API. Called only if a manifest has objects that need one. */
export type HasApi = () => boolean | undefined | Promise<boolean | undefined>;

/** Decoded manifests. `text`, which is sent to the node, contains only the accepted objects. */
export type Manifests = {
  text: string;
  objects: ManifestObject[];
  /** Objects of kinds that need a Kubernetes API. */
  others: (ManifestObject & { apiVersion: string })[];
  decoded: DecodedManifest;
};

/** Returns the manifest names given on the command line. Throws `invalid_argument` if there are none. */
export function manifestNames(command: string, files: readonly string[], options: ManifestOptions): string[] {
  const names = [...files, ...(options.filename ?? [])];
  if (names.length > 0) return names;
  throw new PodwrightError(
    'invalid_argument',
    `${command}: name a manifest, such as 'podwright ${command} pod.yaml', a directory, a URL, or - for standard input`,
  );
}

/**
 * Reads and validates manifests, so that errors are reported with file and line before anything is started. Prints warnings about skipped
 * objects. Accepts objects that need a Kubernetes API if the node has one. Rejects with a single `invalid_argument` error that contains all
 * errors.
 */
export async function readManifests(
  names: readonly string[],
  options: ManifestOptions,
  hasApi: HasApi,
): Promise<Manifests> {
  const { texts, problems } = await readSources(names, options);
  const decoded = await decodeFor(texts, options, hasApi);
  const errors = [...problems.map(({ message }) => message), ...decoded.errors.map(String)];
  if (errors.length > 0) throw new PodwrightError('invalid_argument', errors.join('\n'));
  for (const warning of [...decoded.leftOut, ...decoded.warnings]) printError(`warning: ${warning}`);
  const objects = decoded.objects.map(({ object: { kind, metadata } }) => {
    return { kind, namespace: metadata.namespace, name: metadata.name };
  });
  const others = decoded.others.map(({ object: { apiVersion, kind, metadata } }) => {
    return { kind, apiVersion, namespace: metadata.namespace || 'default', name: metadata.name };
  });
  const all = [...decoded.objects, ...decoded.others].map(({ object }) => object);
  return { text: textOf(all), objects, others, decoded };
}

/** Manifests with at least this many characters might exceed the limits that apply on nodes without a Kubernetes API. */
const LARGE_TEXT = 200_000;

async function decodeFor(texts: ManifestText[], options: ManifestOptions, hasApi: HasApi): Promise<DecodedManifest> {
  const forApi = decodeManifests(texts, { ...options, otherKinds: true, templates: true });
  if (forApi.needsApi && (await hasApi())) return forApi;
  const isDone = !forApi.needsApi && forApi.errors.length === 0 && texts.every(({ text }) => text.length < LARGE_TEXT);
  return isDone ? forApi : decodeManifests(texts, options);
}

/** Builds the text to send to the node: a List of the objects. Throws `invalid_argument` if it is too large. */
export function textOf(items: (DecodedManifest['objects'][number]['object'] | OtherObject)[]): string {
  const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  if (Buffer.byteLength(text) <= MAX_MANIFEST_BYTES) return text;
  throw new PodwrightError(
    'invalid_argument',
    `the manifests are larger than ${MAX_MANIFEST_BYTES >> 20} MiB together as JSON; split them`,
  );
}
