/** Helpers for converting metrics between autoscaling/v1 and autoscaling/v2. */
import { type JsonObject, textAt, valueAt } from '../values.ts';

export const SOURCES = ['object', 'pods', 'resource', 'containerResource', 'external'] as const;
type SourceName = (typeof SOURCES)[number];
export type Convert = Readonly<Record<SourceName, (source: JsonObject) => JsonObject>>;

/** Removes absent fields, like Go's encoder. */
export const present = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

export const reference = (ref: unknown): JsonObject =>
  present({ kind: textAt(ref, 'kind'), name: textAt(ref, 'name'), apiVersion: textAt(ref, 'apiVersion') || undefined });

export const metricOf = (source: JsonObject, selector: string): JsonObject =>
  present({ name: textAt(source, 'metricName'), selector: valueAt(source, selector) });
