import { didYouMean, PodwrightError } from '@podwright/base';
import type { ObjectMeta } from './object-meta.ts';

/**
 * Returns a `not_found` error for an object. Suggests namespaces that contain an object of that name or, failing that, the most similar
 * name.
 */
export function absentObject(
  wanted: { kind: string; namespace: string; name: string },
  all: readonly { metadata: Pick<ObjectMeta, 'namespace' | 'name'> }[],
): PodwrightError {
  const { namespace, name } = wanted;
  const kind = wanted.kind.toLowerCase();
  if (namespace === '') return new PodwrightError('not_found', `there is no ${kind} ${name}`);
  const others = [
    ...new Set(all.filter(({ metadata }) => metadata.name === name).map(({ metadata }) => metadata.namespace)),
  ];
  if (others.length === 0) {
    const list = kind === 'pod' ? "'podwright ps' lists the pods" : `'podwright get ${kind}s -A' lists all of them`;
    const here = all.filter(({ metadata }) => metadata.namespace === namespace).map(({ metadata }) => metadata.name);
    return new PodwrightError(
      'not_found',
      `there is no ${kind} ${namespace}/${name}${didYouMean(name, here) || `; ${list}`}`,
    );
  }
  const shown = others.slice(0, 3);
  const hints = shown.map((other) => `-n ${other}`).join(' or ');
  return new PodwrightError(
    'not_found',
    `there is no ${kind} ${name} in the namespace ${namespace}; ${name} is in ${shown.join(', ')}: add ${hints}`,
  );
}
