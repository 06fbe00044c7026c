/** The subset of JSON Schema used by Kubernetes' OpenAPI documents. */
export type JsonSchema = {
  $ref?: string;
  allOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  type?: string;
  format?: string;
  description?: string;
  default?: unknown;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema;
  items?: JsonSchema;
  required?: string[];
  uniqueItems?: boolean;
  'x-kubernetes-group-version-kind'?: { group: string; kind: string; version: string }[];
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-selectable-fields'?: { fieldPath: string }[];
  'x-kubernetes-unions'?: object[];
};
