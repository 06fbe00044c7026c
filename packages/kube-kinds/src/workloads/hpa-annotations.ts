/** The annotations used in autoscaling/v1 to carry fields of autoscaling/v2. */
import type { ApiObject } from '../api-object.ts';
import { objectAt } from '../values.ts';

const PREFIX = 'autoscaling.alpha.kubernetes.io/';
export const METRICS = `${PREFIX}metrics`;
export const CURRENT_METRICS = `${PREFIX}current-metrics`;
export const CONDITIONS = `${PREFIX}conditions`;
export const BEHAVIOR = `${PREFIX}behavior`;
const ALL = [METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR];
const TOLERANCES = [`${PREFIX}scale-down-tolerance`, `${PREFIX}scale-up-tolerance`];

export function withoutHpaAnnotations(object: ApiObject): ApiObject {
  const annotations = objectAt(object, 'metadata', 'annotations') ?? {};
  const others = Object.entries(annotations).filter(([key]) => ![...ALL, ...TOLERANCES].includes(key));
  if (others.length === Object.keys(annotations).length) return object;
  const { annotations: _, ...metadata } = object.metadata;
  if (others.length === 0) return { ...object, metadata };
  return { ...object, metadata: { ...metadata, annotations: Object.fromEntries(others) as Record<string, string> } };
}

/** Parses an annotation as JSON. Returns `undefined` if it is absent or not JSON. */
export function parseAnnotation(object: ApiObject, key: string): unknown {
  const text = object.metadata.annotations?.[key];
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
