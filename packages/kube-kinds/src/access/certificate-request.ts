import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue } from '../field-error.ts';
import type { CreateContext, Strategy } from '../strategy.ts';
import { type JsonObject, objectAt, textAt, withValue } from '../values.ts';
import { certificateProblem } from './certificate-chain.ts';
import {
  validateApprovalChange,
  validateConditions,
  validateRemoval,
  withConditionTimes,
  withOldDecisions,
} from './certificate-conditions.ts';
import { validateCertificateChange, validateRequestSpec } from './certificate-request-rules.ts';

/** Sets the requester to the calling user, and clears the status. */
function prepareForCreate(object: ApiObject, { user }: CreateContext): ApiObject {
  const { username: _name, uid: _uid, groups: _groups, extra: _extra, ...spec } = objectAt(object, 'spec') ?? {};
  const { status: _status, ...others } = object;
  return { ...others, spec: { ...spec, ...callerFields(user) }, status: {} };
}

const callerFields = ({ username, uid, groups, extra }: CreateContext['user']): JsonObject => ({
  ...(username === '' ? {} : { username }),
  ...(uid ? { uid } : {}),
  ...(groups.length === 0 ? {} : { groups: [...groups] }),
  ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra }),
});

const prepareForUpdate = (object: ApiObject, old: ApiObject): ApiObject => ({
  ...object,
  spec: old.spec,
  status: old.status,
});

/** Keeps the old object's `spec` and decisions, which cannot be changed by status updates. */
const prepareForStatusUpdate = (object: ApiObject, old: ApiObject): ApiObject =>
  withConditionTimes(withOldDecisions({ ...object, spec: old.spec }, old), old);

/** Keeps the old object's spec and status, except for the conditions. */
function prepareForApproval(object: ApiObject, old: ApiObject): ApiObject {
  const { conditions } = objectAt(withConditionTimes(object, old), 'status') ?? {};
  const prepared = { ...object, spec: old.spec, status: { ...objectAt(old, 'status') } };
  return withValue(prepared, ['status', 'conditions'], conditions);
}

const validate = (object: ApiObject, old?: ApiObject): FieldError[] => [
  ...validateRequestSpec('spec', object, old),
  ...validateConditions('status.conditions', object, old),
  ...validateCertificate('status.certificate', object, old),
];

/** Validates a certificate signing request's issued certificate, unless it is unchanged or the old one was already invalid. */
function validateCertificate(field: string, object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const certificate = textAt(object, 'status', 'certificate');
  const before = textAt(old, 'status', 'certificate');
  if (old !== undefined && (certificate === before || certificateProblem(before) !== undefined)) return [];
  const problem = certificateProblem(certificate);
  return problem === undefined ? [] : [invalidValue(field, '<certificate data>', problem)];
}

type Allowed = { decisions?: boolean; certificate?: boolean };

const validateUpdateWith =
  ({ decisions = false, certificate = false }: Allowed) =>
  (object: ApiObject, old: ApiObject): FieldError[] => [
    ...validate(object, old),
    ...validateRemoval('status.conditions', object, old),
    ...(decisions ? [] : validateApprovalChange('status.conditions', object, old)),
    ...validateCertificateChange('status.certificate', { object, old, isAllowed: certificate }),
  ];

export const CERTIFICATE_SIGNING_REQUEST: Strategy = {
  prepareForCreate,
  prepareForUpdate,
  validate: (object) => validate(object),
  validateUpdate: validateUpdateWith({}),
  nameProblems: () => [],
  subresources: {
    status: {
      prepareForUpdate: prepareForStatusUpdate,
      validateUpdate: validateUpdateWith({ certificate: true }),
      resetFields: [['spec'], ['status', 'conditions']],
    },
    approval: {
      prepareForUpdate: prepareForApproval,
      validateUpdate: validateUpdateWith({ decisions: true }),
      resetFields: [['spec'], ['status', 'certificate']],
    },
  },
  selectableFields: { 'spec.signerName': (object) => textAt(object, 'spec', 'signerName') },
  resetFields: [['spec'], ['status']],
};
