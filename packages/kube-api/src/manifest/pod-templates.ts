import { isRecord } from '@podwright/base';
import { type FieldPath, formatFieldPath } from '../issue.ts';
import type { ManifestObject, Pod } from '../objects/types.ts';
import { templatePath } from '../schema/kinds.ts';
import { decodePart, type PlacedObject } from './decode-part.ts';
import { type Findings, ManifestError } from './manifest-errors.ts';
import type { Part } from './manifest-parts.ts';

/**
 * A pod as created by its workload. `path` is the path of the pod template in the workload; `workload` is the workload's kind and name,
 * such as `Deployment default/web`.
 */
export type DecodedTemplate = { pod: Pod; workload: string; path: FieldPath };

type TemplatesInput = {
  objects: readonly PlacedObject[];
  found: Findings;
  partOf: Map<ManifestObject, Part>;
  namespace: string | undefined;
};

/**
 * Decodes the pods of workloads. Each pod is named after its workload; if another pod already has that name, the workload's kind is
 * appended.
 */
export function templatesOf(
  parts: Part[],
  { objects, found, partOf, namespace: override }: TemplatesInput,
): DecodedTemplate[] {
  const names = new Set(objects.filter(({ object }) => object.kind === 'Pod').map(({ object }) => nameIn(object)));
  return parts.flatMap((part): DecodedTemplate[] => {
    const { kind, metadata } = isRecord(part.value) ? part.value : {};
    const path = templatePath(kind);
    const template = path && fieldAt(part.value, path);
    if (path === undefined || !isRecord(template)) return [];
    const { name = 'template', namespace } = isRecord(metadata) ? metadata : {};
    const own = isRecord(template.metadata) ? template.metadata : {};
    const spec = withClaims(template.spec, fieldAt(part.value, ['spec', 'volumeClaimTemplates']));
    const value = { ...template, spec, apiVersion: 'v1', kind: 'Pod', metadata: { ...own, name, namespace } };
    const inside = { ...part, value, base: [...part.base, ...path] };
    const pod = decodePart(inside, found, override)?.object;
    if (pod?.kind !== 'Pod') return [];
    const policy = restartPolicyProblem(String(kind), pod, template);
    if (policy !== undefined) {
      const field = [...inside.base, 'spec', 'restartPolicy'];
      const { file, document } = part;
      found.errors.push(
        new ManifestError({ file, ...document.locate(field, 'value'), path: formatFieldPath(field) }, policy),
      );
    }
    const workload = `${kind} ${nameIn(pod)}`;
    while (names.has(nameIn(pod))) pod.metadata.name += `-${String(kind).toLowerCase()}`;
    names.add(nameIn(pod));
    partOf.set(pod, inside);
    return [{ pod, workload, path }];
  });
}

/** Adds a volume for each of a StatefulSet's claim templates, after the template's own volumes so that their indexes do not change. */
function withClaims(spec: unknown, claims: unknown): unknown {
  if (!isRecord(spec) || !Array.isArray(claims)) return spec;
  const { volumes = [] } = spec;
  if (!Array.isArray(volumes)) return spec;
  const known = new Set(volumes.map((volume) => fieldAt(volume, ['name'])));
  const names = claims.map((claim) => fieldAt(claim, ['metadata', 'name']));
  const added = names.filter((name) => typeof name === 'string' && !known.has(name));
  return { ...spec, volumes: [...volumes, ...added.map((name) => ({ name, emptyDir: {} }))] };
}

/** Validates a template's restart policy like upstream's API server: it must be `Always`, or, in Jobs, anything but `Always`. */
function restartPolicyProblem(kind: string, { spec: { restartPolicy } }: Pod, template: object): string | undefined {
  if (kind === 'PodTemplate') return undefined;
  const isJob = kind === 'Job' || kind === 'CronJob';
  if ((restartPolicy === 'Always') !== isJob) return undefined;
  const byDefault = fieldAt(template, ['spec', 'restartPolicy']) === undefined ? ', the default' : '';
  return `must be ${isJob ? 'OnFailure or Never' : 'Always'} in a ${kind}, got "${restartPolicy}"${byDefault}`;
}

const nameIn = ({ metadata: { namespace, name } }: ManifestObject) => `${namespace}/${name}`;

function fieldAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((at, step) => (isRecord(at) && Object.hasOwn(at, step) ? at[step] : undefined), value);
}
