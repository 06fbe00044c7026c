import { CADVISOR_FLAGS } from './cadvisor-flags.ts';
import { CLUSTER_FIELDS } from './cluster-fields.ts';
import { EVICTION_FIELDS } from './eviction-fields.ts';
import type { Field, ValueOf } from './field.ts';
import { FLAG_ONLY_FIELDS } from './flag-only.ts';
import { KEY_ONLY_FIELDS } from './key-only.ts';
import { LOGGING_FIELDS } from './logging-fields.ts';
import { NODE_FIELDS } from './node-fields.ts';
import { POD_FIELDS } from './pod-fields.ts';
import { RESOURCE_FIELDS } from './resource-fields.ts';
import { RUNTIME_FIELDS } from './runtime-fields.ts';
import { SERVER_FIELDS } from './server-fields.ts';

/** Every field of a KubeletConfiguration (kubelet.config.k8s.io/v1beta1 of Kubernetes 1.36), by its path. */
export const FILE_FIELDS = {
  ...POD_FIELDS,
  ...RUNTIME_FIELDS,
  ...RESOURCE_FIELDS,
  ...EVICTION_FIELDS,
  ...CLUSTER_FIELDS,
  ...NODE_FIELDS,
  ...LOGGING_FIELDS,
  ...SERVER_FIELDS,
};

const ALL_FIELDS = { ...FILE_FIELDS, ...FLAG_ONLY_FIELDS, ...KEY_ONLY_FIELDS, ...CADVISOR_FLAGS };

export type FieldName = keyof typeof ALL_FIELDS;

/** All rows of the table (fields, flags and config keys) by name, without their types. */
export const FIELDS: ReadonlyMap<string, Field> = new Map(Object.entries(ALL_FIELDS) as [string, Field][]);

/** A complete configuration: every field's value, by path. Durations are in milliseconds. */
export type KubeletConfiguration = { [K in FieldName]: ValueOf<(typeof ALL_FIELDS)[K]> };
