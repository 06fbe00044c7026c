/** Audit events (audit.k8s.io/v1 Event). */

import { StoredObject } from '@podwright/api-machinery';
import type { ObservedRequest } from '../server/request-observer.ts';
import { headerOf } from '../wire/http-exchange.ts';
import { type AuditDecision, type AuditStage, hasSecretBodies } from './audit-policy.ts';

export type AuditMoment = { stage: AuditStage; status?: number; nowMs: number };

const MAX_TEXT = 4096;
/** Maximum length of error messages, which might quote a value from the request (up to 3 MiB). */
const MAX_MESSAGE = 64 << 10;

export function auditEvent(observed: ObservedRequest, decision: AuditDecision, moment: AuditMoment): object {
  const { request, info, user, impersonated, startMs, remoteAddress } = observed;
  const { stage, status, nowMs } = moment;
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: decision.level,
    auditID: observed.auditId,
    stage,
    requestURI: (request.url ?? '').slice(0, MAX_TEXT),
    verb: info?.verb ?? '',
    user: user ?? {},
    ...(impersonated && { impersonatedUser: impersonated }),
    ...(remoteAddress !== '' && { sourceIPs: [remoteAddress] }),
    userAgent: headerOf(request, 'user-agent').slice(0, MAX_TEXT),
    ...(info?.isResourceRequest && { objectRef: objectReference(observed) }),
    ...(status !== undefined && { responseStatus: responseStatus(observed, status) }),
    ...bodiesOf(observed, decision),
    requestReceivedTimestamp: microTime(startMs),
    stageTimestamp: microTime(nowMs),
    ...(observed.decision && {
      annotations: {
        ...admissionAnnotations(observed, decision),
        'authorization.k8s.io/decision': observed.decision,
        'authorization.k8s.io/reason': observed.reason ?? '',
      },
    }),
  };
}

/**
 * Returns the annotations added by admission plugins. Annotations marked `Request` are omitted at level `Metadata` and for requests with
 * secret bodies.
 */
function admissionAnnotations(observed: ObservedRequest, { level }: AuditDecision): Record<string, string> {
  const isShown = (one: { level: 'Request' | undefined }) =>
    one.level === undefined || (level !== 'Metadata' && !hasSecretBodies(observed));
  const found = [...(observed.bodies?.annotations ?? [])].filter(([, one]) => isShown(one));
  return Object.fromEntries(found.map(([key, { value }]) => [key, value]));
}

const microTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, -1)}000Z`;

function objectReference({ info }: ObservedRequest): object {
  const { apiGroup, apiVersion, resource, subresource, namespace, name } = info!;
  const fields = { resource, namespace, name, apiGroup, apiVersion, subresource };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

/**
 * Returns the response's status for the event. Omits the message for requests with secret bodies, because it may quote the request's
 * object.
 */
function responseStatus(observed: ObservedRequest, code: number): object {
  const { response } = observed.bodies ?? {};
  const { kind, status, reason, message } = (response ?? {}) as Record<string, unknown>;
  const cut = typeof message === 'string' ? message.slice(0, MAX_MESSAGE) : message;
  const shown = hasSecretBodies(observed) ? {} : { message: cut };
  return { metadata: {}, ...(kind === 'Status' && { status, ...shown, reason }), code };
}

/** Returns the objects in the request and response bodies that the audit level includes. Objects of lists and watches are never logged. */
function bodiesOf(observed: ObservedRequest, { level, omitManagedFields }: AuditDecision): object {
  const { request, response } = observed.bodies ?? {};
  if (level === 'Metadata') return {};
  const shown = (body: object | undefined) => {
    const object = body instanceof StoredObject ? body.decode() : body;
    return object && omitManagedFields ? withoutManagedFields(object) : object;
  };
  return {
    requestObject: shown(request),
    ...(level === 'RequestResponse' && { responseObject: shown(response) }),
  };
}

function withoutManagedFields(body: object): object {
  const { metadata, ...fields } = body as { metadata?: object };
  if (typeof metadata !== 'object' || metadata === null) return body;
  const { managedFields: _, ...others } = metadata as Record<string, unknown>;
  return { ...fields, metadata: others };
}
