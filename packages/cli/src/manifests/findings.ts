import { type DecodedManifest, type Finding, formatFieldPath, type ManifestError } from '@podwright/kube-api';
import { printError } from '../output/terminal-text.ts';

/** A finding about a manifest, with its location if known. */
export type PlacedFinding = {
  severity: 'problem' | 'note';
  file: string;
  line: number;
  column: number;
  field: string;
  message: string;
};

/** Returns the finding for an error in a manifest, or for a skipped object. */
export function ofManifest(error: ManifestError, severity: PlacedFinding['severity']): PlacedFinding {
  const { file, line, column, path, message } = error;
  return { severity, file, line, column, field: path, message };
}

/** Adds locations in the manifests to findings about objects and about workloads' pods. */
export function placeFindings(findings: readonly Finding[], decoded: DecodedManifest): PlacedFinding[] {
  const { objects, templates, placeOf } = decoded;
  return findings.map(({ severity, kind, namespace, name, path, message }) => {
    const isIt = (object: ManifestObject) =>
      object.kind === kind && object.metadata.namespace === namespace && object.metadata.name === name;
    const template = templates.find(({ pod }) => isIt(pod));
    const object = template?.pod ?? objects.map((placed) => placed.object).find(isIt);
    const of = template?.workload ?? `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
    return {
      severity,
      ...NOWHERE,
      ...(object && placeOf(object, path, 'value')),
      field: formatFieldPath([...(template?.path ?? []), ...path]),
      message: `${message} (${of})`,
    };
  });
}

/** Returns a finding without a location. */
export function unplaced(severity: PlacedFinding['severity'], message: string): PlacedFinding {
  return { severity, ...NOWHERE, field: '', message };
}

const NOWHERE = { file: '', line: 0, column: 0 };
type ManifestObject = DecodedManifest['objects'][number]['object'];

/** Formats a finding on one line, such as `pod.yaml:7:3: spec.nodeName: …`. */
export function findingLine({ file, line, column, field, message }: PlacedFinding): string {
  const place = file === '' ? '' : `${file}:${line}:${column}: `;
  return `${place}${field === '' ? '' : `${field}: `}${message}`;
}

/** Prints warnings about fields that the node ignores. */
export function printNotes(findings: readonly Finding[], decoded: DecodedManifest): void {
  for (const finding of placeFindings(findings, decoded)) printError(`warning: ${findingLine(finding)}`);
}
