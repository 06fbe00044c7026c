/** Delete options (meta/v1 DeleteOptions), read from the body or, if there is none, from the query. */

import { badRequest } from '@podwright/api-machinery';
import { PodwrightError } from '@podwright/base';
import { type FieldError, invalidValue, notSupported } from '@podwright/kube-kinds';
import { decodeJson, decodeObject, type JsonObject, PROTOBUF_MEDIA_TYPE, type Schema } from '@podwright/kube-schema';
import { bodyMediaType } from './decode-body.ts';
import type { ObjectMediaType } from './media-type.ts';
import { BodySyntaxError, parseJsonBody, parseYamlBody } from './parsed-body.ts';
import { QueryValues } from './query-values.ts';
import type { SentBody } from './sent-body.ts';
import { checkOptions, dryRunErrors } from './write-options.ts';

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';

export type DeleteOptions = {
  dryRun: boolean;
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: PropagationPolicy;
  /** Whether dependents lose their owner reference instead of being deleted. Deprecated in favor of `propagationPolicy`. */
  orphanDependents?: boolean;
};

type Sent = Omit<DeleteOptions, 'dryRun' | 'propagationPolicy'> & { dryRun?: string[]; propagationPolicy?: string };

/**
 * Reads the delete options. Throws 400 if the body is malformed, 415 if its media type is not supported, and 422 with upstream's field
 * errors if the options are invalid.
 */
export function deleteOptions(
  body: SentBody,
  { contentType, query, schema }: { contentType: string; query: URLSearchParams; schema: Schema },
): DeleteOptions {
  const { dryRun = [], ...sent } = isEmpty(body) ? ofQuery(query) : ofBody(body, contentType, schema);
  checkOptions('DeleteOptions', [...policyErrors(sent), ...dryRunErrors(dryRun)]);
  return { ...sent, dryRun: dryRun.length > 0 } as DeleteOptions;
}

const isEmpty = (body: SentBody): boolean => (Buffer.isBuffer(body) ? body.length === 0 : body.value === undefined);

function ofQuery(query: URLSearchParams): Sent {
  const values = new QueryValues(query);
  return {
    dryRun: values.texts('dryRun'),
    gracePeriodSeconds: values.integer('gracePeriodSeconds'),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    orphanDependents: values.flag('orphanDependents'),
  };
}

function ofBody(body: SentBody, contentType: string, schema: Schema): Sent {
  const mediaType = bodyMediaType(contentType);
  try {
    const decoded =
      Buffer.isBuffer(body) && mediaType === PROTOBUF_MEDIA_TYPE
        ? decodeObject(schema, body, { fallback: FALLBACK })
        : ofValue(Buffer.isBuffer(body) ? parsedText(body, mediaType) : body.value, schema);
    if (decoded.kind !== undefined && decoded.kind !== FALLBACK.kind)
      throw badRequest('decoded object cannot be converted to DeleteOptions');
    const { dryRun, gracePeriodSeconds, preconditions, propagationPolicy, orphanDependents } = decoded;
    return { dryRun, gracePeriodSeconds, preconditions, propagationPolicy, orphanDependents } as Sent;
  } catch (error) {
    if (error instanceof BodySyntaxError || error instanceof PodwrightError) throw badRequest(error.message);
    throw error;
  }
}

const FALLBACK = { apiVersion: 'v1', kind: 'DeleteOptions' };

const parsedText = (body: Buffer, mediaType: ObjectMediaType): unknown =>
  (mediaType === 'application/yaml' ? parseYamlBody : parseJsonBody)(body.toString()).value;

const ofValue = (value: unknown, schema: Schema): JsonObject =>
  decodeJson(value ?? {}, { schema, type: schema.kindOf(FALLBACK)! }).object;

const POLICIES = ['Foreground', 'Background', 'Orphan'];

function policyErrors({ propagationPolicy: policy, orphanDependents }: Sent): FieldError[] {
  const errors: FieldError[] = [];
  if (policy === undefined) return errors;
  if (orphanDependents !== undefined)
    errors.push(
      invalidValue('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  if (!POLICIES.includes(policy)) errors.push(notSupported('propagationPolicy', policy, [...POLICIES, 'nil']));
  return errors;
}
