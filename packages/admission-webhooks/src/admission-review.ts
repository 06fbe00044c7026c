/** AdmissionReviews: the requests to webhooks and their responses (apiserver, plugin/webhook/request/admissionreview.go). */
import { randomUUID } from 'node:crypto';
import { admissionRequest, versionedObject } from '@podwright/admission-policies';
import { type AdmissionAttributes, ApiError } from '@podwright/api-machinery';
import { errorMessage, isRecord, PodwrightError } from '@podwright/base';
import { decodeJson, type Resource, type Schema } from '@podwright/kube-schema';
import { CallError } from './call-error.ts';
import type { Webhook } from './webhook.ts';
import type { WebhookAnswer } from './webhook-client.ts';

const KNOWN_VERSIONS = ['v1', 'v1beta1'];
const GROUP = 'admission.k8s.io';

/** An AdmissionReview. `body` is the object to send. The response must echo `uid`. */
export type Review = { version: string; uid: string; body: object };

/** Returns the AdmissionReview for a request. Throws `CallError` if the webhook accepts none of the versions that the server supports. */
export function reviewOf(webhook: Webhook, attributes: AdmissionAttributes, resource: Resource): Review {
  const version = webhook.reviewVersions.find((one) => KNOWN_VERSIONS.includes(one));
  if (version === undefined)
    throw new CallError(
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
      400,
    );
  const uid = randomUUID();
  const { object, oldObject } = attributes;
  const { options, ...fields } = admissionRequest(attributes, resource);
  const request = {
    uid,
    ...fields,
    object: object ? versionedObject(attributes, resource, object) : null,
    oldObject: oldObject ? versionedObject(attributes, resource, oldObject) : null,
    options,
  };
  return { version, uid, body: { kind: 'AdmissionReview', apiVersion: `${GROUP}/${version}`, request } };
}

/** The decoded response of a webhook. */
export type Verdict = {
  allowed: boolean;
  /** The operations of the webhook's JSON patch. */
  patch: readonly unknown[];
  auditAnnotations: Readonly<Record<string, string>>;
  warnings: readonly string[];
  /** The Status that gives the webhook's reason for a rejection. */
  result: Record<string, unknown> | undefined;
};

/** Decodes and checks the response to a review. Throws `CallError` if it is invalid. */
export function verdictOf(
  { status, body }: WebhookAnswer,
  { version, uid }: Review,
  options: { isMutating: boolean; schema: Schema },
): Verdict {
  if (status < 200 || status > 206) throw statusProblem(status, body);
  const review = parsed(status, body);
  const { kind = '', apiVersion = '', response } = review;
  checkKind({ kind, apiVersion }, version);
  if (response === undefined || response === null) throw invalid('webhook response was absent');
  if (!isRecord(response)) throw undecodable('', response, 'v1.AdmissionResponse');
  if (version === 'v1' && (response.uid ?? '') !== uid)
    throw invalid(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`);
  const expected = `${GROUP}/${version}, Kind=AdmissionReview`;
  if (version === 'v1' && (kind !== 'AdmissionReview' || apiVersion !== `${GROUP}/${version}`))
    throw invalid(`expected webhook response of ${expected}, got ${shownVersion(apiVersion)}, Kind=${kind}`);
  return {
    allowed: typed<boolean>(response, 'allowed', false),
    patch: patchOf(response, { ...options, version }),
    auditAnnotations: textMap(response.auditAnnotations),
    warnings: texts(response.warnings),
    result: resultOf(response.status, options.schema),
  };
}

const invalid = (why: string): CallError => new CallError(`received invalid webhook response: ${why}`);
const undecodable = (field: string, value: unknown, type: string): CallError =>
  new CallError(
    `failed to call webhook: json: cannot unmarshal ${typeInJson(value)} into Go struct field AdmissionResponse.response${field} of type ${type}`,
  );

const typeInJson = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;

/** Formats an API version as Go does: `/v1` for the core group. */
const shownVersion = (apiVersion: unknown): string =>
  String(apiVersion).includes('/') ? String(apiVersion) : `/${apiVersion}`;

/** Parses a response body. Throws `CallError` unless it is a JSON object. */
function parsed(status: number, body: Buffer): Record<string, unknown> {
  let value: unknown;
  if (body.length === 0)
    throw new CallError(
      `failed to call webhook: 0-length response with status code: ${status} and content type: application/json`,
    );
  try {
    value = JSON.parse(body.toString());
  } catch (error) {
    throw new CallError(`failed to call webhook: couldn't get version/kind; json parse error: ${errorMessage(error)}`);
  }
  if (isRecord(value)) return value;
  throw new CallError(
    `failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal ${typeInJson(value)}`,
  );
}

/**
 * Throws `CallError` if a response has a kind other than AdmissionReview or a version other than `version`. A response without a kind or
 * version passes this check.
 */
function checkKind({ kind, apiVersion }: { kind: unknown; apiVersion: unknown }, version: string): void {
  if (kind === '' || apiVersion === '') return;
  if (kind === 'AdmissionReview' && apiVersion === `${GROUP}/${version}`) return;
  if (kind === 'AdmissionReview' && KNOWN_VERSIONS.some((one) => apiVersion === `${GROUP}/${one}`)) {
    const given = String(apiVersion).split('/')[1];
    throw new CallError(
      `failed to call webhook: converting (${given}.AdmissionReview) to (${version}.AdmissionReview): unknown conversion`,
    );
  }
  throw new CallError(
    `failed to call webhook: no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
  );
}

/**
 * Returns a boolean or string field of a webhook's response, or the default `absent` if the field is missing. Throws `CallError` if the
 * field has a different type than `absent`.
 */
function typed<T extends boolean | string>(response: Record<string, unknown>, name: string, absent: T): T {
  const value = response[name] ?? absent;
  if (typeof value !== typeof absent)
    throw undecodable(`.${name}`, value, typeof absent === 'boolean' ? 'bool' : 'string');
  return value as T;
}

type PatchOptions = { isMutating: boolean; version: string };

/** Returns the operations of the patch; none for a validating webhook. */
function patchOf(response: Record<string, unknown>, { isMutating, version }: PatchOptions): readonly unknown[] {
  const text = typed<string>(response, 'patch', '');
  const type = response.patchType ?? undefined;
  if (version === 'v1') checkPatch(text, type, isMutating);
  if (!isMutating || text === '') return [];
  const patch = decodedPatch(text) ?? [];
  if (!Array.isArray(patch))
    throw undecodablePatch(`json: cannot unmarshal ${typeInJson(patch)} into Go value of type jsonpatch.Patch`);
  if (patch.length > 0 && version === 'v1' && type !== 'JSONPatch')
    throw new CallError(`unsupported patch type ${JSON.stringify(type)}`);
  return patch;
}

/**
 * Checks the patch in the response to a v1 review; responses to other versions are not checked. Throws `CallError` if a patch is not
 * allowed, or if there is a patch without a type or a type without a patch.
 */
function checkPatch(text: string, type: unknown, isMutating: boolean): void {
  if (!isMutating && text !== '') throw invalid('validating webhook may not return response.patch');
  if (!isMutating && type !== undefined) throw invalid('validating webhook may not return response.patchType');
  if (text !== '' && type === undefined) throw invalid('webhook returned response.patch but not response.patchType');
  if (text === '' && type !== undefined) throw invalid('webhook returned response.patchType but not response.patch');
  if (type === '') throw invalid('webhook returned invalid response.patchType of ""');
}

const undecodablePatch = (why: string): CallError =>
  new CallError(`received undecodable patch in webhook response: ${why}`);

function decodedPatch(text: string): unknown {
  const valid = /^[A-Za-z0-9+/\r\n]*={0,2}[\r\n]*/.exec(text)![0].length;
  if (valid < text.length) throw new CallError(`failed to call webhook: illegal base64 data at input byte ${valid}`);
  try {
    return JSON.parse(Buffer.from(text, 'base64').toString());
  } catch (error) {
    throw undecodablePatch(errorMessage(error));
  }
}

function textMap(value: unknown = {}): Record<string, string> {
  const isMap = value === null || (isRecord(value) && Object.values(value).every((one) => typeof one === 'string'));
  if (!isMap) throw undecodable('.auditAnnotations', value, 'map[string]string');
  return (value ?? {}) as Record<string, string>;
}

function texts(value: unknown = []): string[] {
  const isList = value === null || (Array.isArray(value) && value.every((one) => typeof one === 'string'));
  if (!isList) throw undecodable('.warnings', value, '[]string');
  return (value ?? []) as string[];
}

function resultOf(value: unknown, schema: Schema): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined;
  const type = schema.kind({ group: '', version: 'v1', kind: 'Status' })!;
  try {
    return decodeJson(value, { schema, type }).object;
  } catch (error) {
    if (error instanceof PodwrightError) throw new CallError(`failed to call webhook: ${errorMessage(error)}`);
    throw error;
  }
}

/** The messages for HTTP errors whose body is not a Status (apimachinery, NewGenericServerResponse). */
const STATUS_MESSAGES: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** Maximum number of response bytes quoted in a message, as in upstream. */
const MAX_QUOTED = 2048;

function statusProblem(status: number, body: Buffer): CallError {
  const text = body.subarray(0, MAX_QUOTED).toString().trim();
  const quoted = `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`;
  const other = `the server responded with the status code ${status} but did not return more information`;
  const given = status === 403 || status === 406 || status === 415 ? text : undefined;
  const message = statusMessage(body) ?? STATUS_MESSAGES[status] ?? given ?? (status >= 500 ? quoted : other);
  return new CallError(`failed to call webhook: ${message}`, status);
}

/** Returns the message of a Status body; `undefined` for any other body. */
function statusMessage(body: Buffer): string | undefined {
  try {
    const { kind, message } = JSON.parse(body.toString());
    return kind === 'Status' && typeof message === 'string' ? message.slice(0, MAX_QUOTED) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the error for the client when a webhook has rejected the request (apiserver, plugin/webhook/errors/statuserror.go). */
export function rejectionAnswer(webhook: string, result: Record<string, unknown> = {}): ApiError {
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const { message, reason, code, details } = result;
  const why = message ? `${denied}: ${message}` : reason ? `${denied}: ${reason}` : `${denied} without explanation`;
  const isDetailed = isRecord(details) && Object.keys(details).length > 0;
  return new ApiError(answerCode(Number(code ?? 0)), String(reason ?? ''), {
    message: why,
    ...(isDetailed && { details }),
  });
}

/**
 * Returns the HTTP status of a rejection: the webhook's own if it is an error status (4xx or 5xx), 500 if it is above 599 and so not a
 * valid HTTP status, otherwise 400.
 */
const answerCode = (code: number): number => (code < 400 ? 400 : code > 599 ? 500 : code);
